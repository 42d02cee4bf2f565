/**
 * `node scripts/run.mjs <file.ts> [args …]`: runs a TypeScript file of this repository on Node 24, after installing
 * missing dependencies. Plain JavaScript, because it may run on Node 18.17.
 */
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { ensureDependencies } from './lib/dependencies.mjs';
import { runWithNode24 } from './lib/node24.mjs';
import { exitWithError } from './lib/standard-error.mjs';

const USAGE_EXIT_CODE = 2;

const [file, ...args] = process.argv.slice(2);
if (file === undefined)
  exitWithError('Usage: node scripts/run.mjs <file.ts> [arguments]', USAGE_EXIT_CODE);

const root = dirname(dirname(fileURLToPath(import.meta.url)));
// The service runs without development tools, as after `npm ci --omit=dev`.
const development = !resolve(file).startsWith(resolve(root, 'server', 'src'));
await ensureDependencies(root, { development });
await runWithNode24(root, resolve(file), args);
