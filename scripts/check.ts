/**
 * `npm run check`: types, lint and format.
 * `npm run check -- --changed`: the same; lint and format only for files that differ from the last commit.
 */
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';

import { repository, runSteps, selectFiles, SOURCE_CHECKS } from './lib/steps.ts';
import { listenForStop } from './lib/stop-signals.ts';

const { values } = parseArgs({ options: { changed: { type: 'boolean', default: false } } });
const stop = listenForStop();
const steps = values.changed ? selectFiles(SOURCE_CHECKS, listChangedFiles()) : SOURCE_CHECKS;
const failed = await runSteps(steps, stop.signal);
process.exitCode = stop.exitCode() ?? (failed.length === 0 ? 0 : 1);

/** Returns the files that differ from the last commit, and new ones, relative to the repository. */
function listChangedFiles(): string[] {
  const changed = listFiles('diff', '--name-only', '--diff-filter=d', 'HEAD');
  return [...changed, ...listFiles('ls-files', '--others', '--exclude-standard')];
}

function listFiles(...args: string[]): string[] {
  const output = execFileSync('git', [...args, '-z'], { cwd: repository, encoding: 'utf8' });
  return output.split('\0').filter((file) => file !== '');
}
