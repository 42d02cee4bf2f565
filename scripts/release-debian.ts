/** `npm run release:debian`: pins the newest versions of Debian's packages in the container image. It needs apt. */
import { repository } from './lib/steps.ts';
import { findNewestPins, writePins } from './release/debian-pins.ts';
import { ReleaseError } from './release/release-error.ts';

try {
  for (const line of await writePins(repository, await findNewestPins())) console.log(line);
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
