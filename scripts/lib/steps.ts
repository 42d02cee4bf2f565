import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A program of the checks, which this Node.js runs in the root of the repository. */
export interface Step {
  readonly name: string;
  /** A file of the repository and its arguments. */
  readonly command: readonly string[];
  /** Matches the files that the program can examine alone; without it, it always examines all. */
  readonly examines?: RegExp;
}

export const repository = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Static checks of the sources, the longest first. On one thread, the compiler takes 11 s of processor time instead of the 19 s of
 * its four checkers, which each check the types that their files share; the linter runs beside it. From the second run on, it
 * checks only what depends on changed files, which takes 4 s.
 */
export const SOURCE_CHECKS: readonly Step[] = [
  {
    name: 'types',
    command: [
      'node_modules/typescript/bin/tsc',
      '--singleThreaded',
      '--incremental',
      '--tsBuildInfoFile',
      'node_modules/.cache/latchkey/types.tsbuildinfo',
    ],
  },
  { name: 'lint', command: ['node_modules/oxlint/bin/oxlint'], examines: /\.(?:m?[jt]s|tsx)$/ },
  {
    name: 'console types',
    command: ['node_modules/typescript/bin/tsc', '--singleThreaded', '--project', 'console'],
  },
  {
    name: 'page types',
    command: ['node_modules/typescript/bin/tsc', '--project', 'agent/src/page/browser'],
  },
  {
    name: 'site types',
    command: ['node_modules/typescript/bin/tsc', '--project', 'scripts/site/browser'],
  },
  {
    name: 'format',
    command: ['node_modules/oxfmt/bin/oxfmt', '--check', '--no-error-on-unmatched-pattern'],
    examines: /./,
  },
];

/** Returns steps that examine only some files where they can, without those that have none of them to examine. */
export function selectFiles(steps: readonly Step[], files: readonly string[]): Step[] {
  return steps.flatMap((step) => {
    const { examines } = step;
    if (examines === undefined) return [step];
    const examined = files.filter((file) => examines.test(file));
    return examined.length === 0 ? [] : [{ ...step, command: [...step.command, ...examined] }];
  });
}

/** Checks that openapi.json equals the schemas, and its linter finds no problem. */
export const INTERFACE_CHECK: Step = {
  name: 'interface',
  command: ['scripts/openapi.ts', '--check'],
};

/**
 * Runs every step, two at a time, also after a failure, and prints each result, with the output of failed ones.
 * @returns the names of failed steps
 */
export async function runSteps(steps: readonly Step[], stop: AbortSignal): Promise<string[]> {
  const failed: string[] = [];
  const left = steps.values();
  const runNext = async (): Promise<void> => {
    for (const step of left) {
      if (stop.aborted) return;
      if (!(await runAndPrint(step, stop))) failed.push(step.name);
    }
  };
  await Promise.all([runNext(), runNext()]);
  return failed;
}

async function runAndPrint(step: Step, stop: AbortSignal): Promise<boolean> {
  const startedAt = performance.now();
  const { ok, output } = await runStep(step, stop);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${ok ? '✔' : '✖'} ${step.name.padEnd(10)} ${seconds.padStart(5)} s`);
  if (!ok) process.stdout.write(output);
  return ok;
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
