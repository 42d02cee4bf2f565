import { ARCHITECTURES } from '../package/locked-packages.ts';
import { packService } from '../package/service/pack-npm.ts';
import { packServiceDeb } from '../package/service/service-deb.ts';
import type { ReleaseFile } from './release-file.ts';

/** What is released. */
export interface Release {
  /** The repository. */
  readonly root: string;
  readonly version: string;
}

type Part = (release: Release) => AsyncIterable<ReleaseFile>;

/** The parts of a release, in the order in which they are built. */
const PARTS: Readonly<Record<string, Part>> = {
  npm: async function* npm({ root, version }) {
    yield await packService(root, version);
  },
  deb: async function* deb({ root, version }) {
    for (const arch of ARCHITECTURES) yield await packServiceDeb(root, version, arch);
  },
};

export const PART_NAMES = Object.keys(PARTS);

/**
 * Builds parts, one file at a time.
 * @throws Error for an unknown part
 */
export async function* buildParts(
  names: readonly string[],
  release: Release,
): AsyncIterable<ReleaseFile> {
  for (const name of names) {
    const part = PARTS[name];
    if (part === undefined) {
      throw new Error(`--only must be one of ${PART_NAMES.join(', ')}, and not ${name}.`);
    }
    yield* part(release);
  }
}
