/**
 * `npm run package:agent`: makes `dist/latchkey-agent-linux-x64.tar.gz`, which runs on Linux with x64 and needs nothing
 * installed, and its SHA-256 beside it.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { repository } from './lib/steps.ts';
import { packAgent } from './package/pack-agent.ts';

const { name, archive, sum, summary } = await packAgent(repository);
const folder = join(repository, 'dist');
await mkdir(folder, { recursive: true });
await writeFile(join(folder, name), archive);
await writeFile(join(folder, `${name}.sha256`), sum);
console.log(`dist/${summary}`);
console.log(`SHA-256 ${sum.split(' ', 1).join('')}`);
