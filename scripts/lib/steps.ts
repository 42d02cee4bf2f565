import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A program of the checks, run by this Node in the repository's root. */
export interface Step {
  readonly name: string;
  /** A file of the repository, then its arguments. */
  readonly command: readonly string[];
}

export const repository = fileURLToPath(new URL('../../', import.meta.url));

/** What holds for the sources without running them. */
export const SOURCE_CHECKS: readonly Step[] = [
  { name: 'types', command: ['node_modules/typescript/bin/tsc'] },
  {
    name: 'page types',
    command: ['node_modules/typescript/bin/tsc', '--project', 'agent/src/page/browser'],
  },
  { name: 'lint', command: ['node_modules/oxlint/bin/oxlint'] },
  { name: 'format', command: ['node_modules/oxfmt/bin/oxfmt', '--check'] },
];

/** openapi.json is what the schemas say, and its linter finds nothing. */
export const INTERFACE_CHECK: Step = {
  name: 'interface',
  command: ['scripts/openapi.ts', '--check'],
};

/**
 * Runs every step, even after one has failed, and prints how each went, with its output when it failed.
 * @returns the names of those that failed
 */
export async function runSteps(steps: readonly Step[], stop: AbortSignal): Promise<string[]> {
  const failed: string[] = [];
  for (const step of steps) {
    if (stop.aborted) break;
    const startedAt = performance.now();
    const { ok, output } = await runStep(step, stop);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(`${ok ? '✔' : '✖'} ${step.name.padEnd(10)} ${seconds.padStart(5)} s`);
    if (ok) continue;
    failed.push(step.name);
    process.stdout.write(output);
  }
  return failed;
}

async function runStep(step: Step, stop: AbortSignal): Promise<{ ok: boolean; output: string }> {
  const child = spawn(process.execPath, [...step.command], {
    cwd: repository,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const end = (): void => void child.kill();
  stop.addEventListener('abort', end, { once: true });
  let output = '';
  const collect = (text: string): void => {
    output += text;
  };
  child.stdout.setEncoding('utf8').on('data', collect);
  child.stderr.setEncoding('utf8').on('data', collect);
  const [code]: unknown[] = await once(child, 'close');
  stop.removeEventListener('abort', end);
  return { ok: code === 0, output };
}
