import { join } from 'node:path';

import { packAgentDeb } from '../package/agent-deb.ts';
import { bundleProgram } from '../package/bundle.ts';
import { readPins } from '../package/image/debian-packages.ts';
import { collectImageTree } from '../package/image/image-tree.ts';
import { packImage } from '../package/image/pack-image.ts';
import { type LockedPackage, listRuntimePackages, readLockFile } from '../package/lock-file.ts';
import { ARCHITECTURES } from '../package/locked-packages.ts';
import { packAgent } from '../package/pack-agent.ts';
import { CONSOLE_PACKAGES } from '../package/service/console-packages.ts';
import { createManifest } from '../package/service/manifest.ts';
import { packService } from '../package/service/pack-npm.ts';
import { packServiceDeb } from '../package/service/service-deb.ts';
import { isFor } from '../package/service/service-tree.ts';
import { packClients } from './clients.ts';
import { ReleaseError } from './release-error.ts';
import type { ReleaseFile } from './release-file.ts';
import { renderSbom, type Product } from './sbom.ts';

/** What is released. */
export interface Release {
  /** The repository. */
  readonly root: string;
  readonly version: string;
}

type Part = (release: Release) => AsyncIterable<ReleaseFile>;

/** The parts of a release, in the order in which they are built. */
const PARTS: Readonly<Record<string, Part>> = {
  async *npm({ root, version }) {
    yield await packService(root, version);
  },
  async *deb({ root, version }) {
    for (const arch of ARCHITECTURES) yield await packServiceDeb(root, version, arch);
  },
  async *image({ root, version }) {
    for (const arch of ARCHITECTURES) {
      const entries = await collectImageTree(root, version, arch);
      yield await packImage(root, { version, arch, entries });
    }
  },
  async *agent({ root, version }) {
    for (const arch of ARCHITECTURES) {
      const { name, archive, manifest } = await packAgent(root, arch);
      yield { name, content: archive };
      yield { name: `${name}.manifest`, content: Buffer.from(manifest) };
      yield await packAgentDeb(root, version, arch);
    }
  },
  async *clients({ root, version }) {
    yield* packClients(root, version);
  },
  async *sbom(release) {
    const purl = `pkg:npm/latchkey@${release.version}`;
    yield await describeService(release, { name: 'latchkey', purl });
    const { x64, arm64 } = await readPins(release.root);
    const debianPackages = [...x64, ...arm64];
    yield await describeService(release, { name: 'latchkey-image', debianPackages }, isInImages);
    yield await describeAgent(release);
  },
};

export const PART_NAMES = Object.keys(PARTS);

/**
 * Builds parts, one file at a time.
 * @throws ReleaseError for an unknown part
 */
export async function* buildParts(
  names: readonly string[],
  release: Release,
): AsyncIterable<ReleaseFile> {
  for (const name of names) {
    const part = PARTS[name];
    if (part === undefined) {
      throw new ReleaseError(`--only must be one of ${PART_NAMES.join(', ')}, and not ${name}.`);
    }
    yield* part(release);
  }
}

/** Whether the image for one of the processors contains a package. */
function isInImages(locked: LockedPackage | undefined): boolean {
  return ARCHITECTURES.some((arch) => isFor(locked, arch));
}

/** The image contains the service and its packages, and Debian's libraries. */
async function describeService(
  { root, version }: Release,
  own: Pick<Product, 'name' | 'purl' | 'debianPackages'>,
  hasPackage: (locked: LockedPackage | undefined) => boolean = () => true,
): Promise<ReleaseFile> {
  const locked = await readLockFile(root);
  const { optionalDependencies, license } = await createManifest(root, version);
  const direct = [...Object.keys(optionalDependencies), ...CONSOLE_PACKAGES];
  const packages = new Set([
    ...direct.map((each) => `node_modules/${each}`),
    ...listRuntimePackages(locked, 'server'),
  ]);
  const contained = [...packages].filter((path) => hasPackage(locked[path])).sort();
  const product = { ...own, version, license, packages: contained };
  const content = Buffer.from(renderSbom(product, locked));
  return { name: `${own.name}-${version}.cdx.json`, content };
}

async function describeAgent({ root, version }: Release): Promise<ReleaseFile> {
  const { packages } = await bundleProgram(root, join(root, 'agent', 'src', 'main.ts'));
  const names = [...packages, ...ARCHITECTURES.map((arch) => `node-linux-${arch}`)];
  const product = {
    name: 'latchkey-agent',
    version,
    license: 'MIT',
    packages: names.map((name) => `node_modules/${name}`).sort(),
  };
  const sbom = renderSbom(product, await readLockFile(root));
  return { name: `latchkey-agent-${version}.cdx.json`, content: Buffer.from(sbom) };
}
