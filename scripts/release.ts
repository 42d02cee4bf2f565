/**
 * `npm run release`: builds everything that is published, into `dist/`, and publishes nothing. The same sources produce the same
 * bytes. With `--only PART`, which may be repeated, it builds only some parts; with `--tree ARCH`, only the folder with
 * the service and everything that it runs on, `dist/latchkey-linux-ARCH`, for an image.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { repository } from './lib/steps.ts';
import { parseArchitecture } from './package/locked-packages.ts';
import { collectServiceTree } from './package/service/service-tree.ts';
import { writeTree } from './package/write-tree.ts';
import { buildParts, PART_NAMES } from './release/parts.ts';
import { readVersion } from './release/version.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: PART_NAMES },
    tree: { type: 'string' },
  },
});
const dist = join(repository, 'dist');
const version = await readVersion(repository);

if (values.tree === undefined) await buildRelease(values.only);
else await buildTree(values.tree);

async function buildRelease(parts: readonly string[]): Promise<void> {
  await mkdir(dist, { recursive: true });
  for await (const { name, content } of buildParts(parts, { root: repository, version })) {
    await writeFile(join(dist, name), content);
    console.log(`dist/${name}: ${(content.length / 1_000_000).toFixed(1)} MB`);
  }
}

async function buildTree(processor: string): Promise<void> {
  const arch = parseArchitecture(processor);
  const { entries } = await collectServiceTree(repository, version, arch);
  const name = `latchkey-linux-${arch}`;
  await writeTree(join(dist, name), entries);
  console.log(`dist/${name}: start it with bin/node server/src/main.js serve`);
}
