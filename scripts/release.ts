/**
 * `npm run release`: builds everything that is published, into `dist/release/`, and publishes nothing. The same sources produce
 * the same bytes.
 *
 * - `--sign KEY`, or LATCHKEY_SIGNING_KEY: the private key of `release-key.pub`, which signs the checksums; its `.pub` if an SSH agent
 *   signs
 * - `--local`: builds packages that you do not publish, without the key and the address of the maintainers
 * - `--only PART`, which may be repeated: builds only some parts
 * - `--verify`: builds twice, and fails if a byte differs
 * - `--tree ARCH`: writes only the root directory of the container image to `dist/latchkey-linux-ARCH/`, for deploy/Containerfile
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { repository } from './lib/steps.ts';
import { parseArchitecture } from './package/locked-packages.ts';
import { collectImageTree } from './package/image/image-tree.ts';
import { writeImageTree } from './package/image/write-image-tree.ts';
import { buildRelease } from './release/build-release.ts';
import { requireMaintainers } from './release/maintainers.ts';
import { PART_NAMES, type Release } from './release/parts.ts';
import { ReleaseError } from './release/release-error.ts';
import { readVersion } from './release/version.ts';

const { values } = parseArgs({
  options: {
    local: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: PART_NAMES },
    sign: { type: 'string', default: process.env['LATCHKEY_SIGNING_KEY'] ?? '' },
    tree: { type: 'string' },
    verify: { type: 'boolean', default: false },
  },
});

// Files that are unpacked and written get the modes that everybody's build has.
process.umask(0o022);
try {
  await main();
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const release = { root: repository, version: await readVersion(repository) };
  if (values.tree !== undefined) return buildTree(release, values.tree);
  if (values.local && values.sign !== '') {
    throw new ReleaseError(
      'A release with --local is not signed: leave out --sign and LATCHKEY_SIGNING_KEY.',
    );
  }
  if (!values.local) requireMaintainers(repository);
  const folder = join(repository, 'dist', 'release');
  const key = values.sign === '' ? null : values.sign;
  const sums = await buildRelease(release, { folder, parts: values.only, key, report });
  if (values.verify) await verify(release, sums);
}

function report(line: string): void {
  console.log(`dist/release/${line}`);
}

/** Builds again elsewhere, and compares the checksums. */
async function verify(release: Release, expected: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-release-'));
  try {
    const options = { folder, parts: values.only, key: null, report: () => undefined };
    const actual = new Set((await buildRelease(release, options)).split('\n'));
    const changed = expected.split('\n').filter((line) => !actual.has(line));
    if (changed.length > 0) {
      throw new ReleaseError(`The second build differs:\n${changed.join('\n')}`);
    }
    console.log('The second build has the same bytes.');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function buildTree({ version }: Release, processor: string): Promise<void> {
  const arch = parseArchitecture(processor);
  const name = `latchkey-linux-${arch}`;
  await writeImageTree(
    join(repository, 'dist', name),
    await collectImageTree(repository, version, arch),
  );
  console.log(`dist/${name}: build the image of it with deploy/Containerfile`);
}
