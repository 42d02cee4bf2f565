#!/usr/bin/env node
/** The `latchkey-agent` command. Plain JavaScript, since the Node that runs it may be as old as 18.17. */
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { ensureDependencies } from '../../scripts/lib/dependencies.mjs';
import { runWithNode24 } from '../../scripts/lib/node24.mjs';

const agent = dirname(dirname(fileURLToPath(import.meta.url)));
const root = resolve(agent, '..');
await ensureDependencies(root, { development: false });
await runWithNode24(root, join(agent, 'src', 'main.ts'), process.argv.slice(2));
