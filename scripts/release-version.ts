/** `npm run release:version -- VERSION`: writes the version of the next release into every file that names it. */
import { repository } from './lib/steps.ts';
import { ReleaseError } from './release/release-error.ts';
import { setVersion } from './release/set-version.ts';

try {
  await setVersion(repository, process.argv[2] ?? '');
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
