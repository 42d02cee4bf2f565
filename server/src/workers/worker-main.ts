/** The program of a worker, which `serve --workers` starts. */
import { explainError } from '#server/cli/command-error.ts';

import { runWorker } from './worker.ts';

try {
  await runWorker();
} catch (error) {
  const { lines, exitCode } = explainError(error);
  for (const line of lines) process.stderr.write(`latchkey: ${line}\n`);
  process.exit(exitCode);
}
