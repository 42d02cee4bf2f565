/**
 * `npm run package:agent`: makes `dist/latchkey-agent-linux-x64.tar.gz`, which runs on Linux with x64 and needs nothing
 * installed, and its SHA-256 beside it. The same sources make the same bytes.
 */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { repository } from './lib/steps.ts';
import { compressArchive } from './package/compress.ts';
import { gatherAgent } from './package/contents.ts';

const NAME = 'latchkey-agent-linux-x64.tar.gz';
const MAX_BYTES = 45_000_000;

const { version, nodeVersion, entries } = await gatherAgent(repository);
const cache = join(repository, 'node_modules', '.cache', 'latchkey-agent-package');
const archive = await compressArchive(entries, cache);
const size = `${(archive.length / 1_000_000).toFixed(1)} MB`;
if (archive.length > MAX_BYTES) throw new Error(`The package has ${size}: 45 MB are allowed.`);

const folder = join(repository, 'dist');
const sum = createHash('sha256').update(archive).digest('hex');
await mkdir(folder, { recursive: true });
await writeFile(join(folder, NAME), archive);
await writeFile(join(folder, `${NAME}.sha256`), `${sum}  ${NAME}\n`);
console.log(`dist/${NAME}: ${size}, version ${version} with Node.js ${nodeVersion}`);
console.log(`SHA-256 ${sum}`);
