#!/usr/bin/env node
/** The `latchkey` command. Plain JavaScript, since the Node that runs it may be as old as 18.17. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { ensureDependencies } from '../../scripts/lib/dependencies.mjs';
import { runWithNode24 } from '../../scripts/lib/node24.mjs';

const server = dirname(dirname(fileURLToPath(import.meta.url)));
const root = resolve(server, '..');
await ensureDependencies(root, { development: false });
// A package contains the same modules as JavaScript.
const packed = join(server, 'src', 'main.js');
const main = existsSync(packed) ? packed : join(server, 'src', 'main.ts');
await runWithNode24(root, main, process.argv.slice(2));
