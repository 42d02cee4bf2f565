import type { Progress } from '../install/apply/apply-plan.ts';
import type { RunProgram } from '../install/run-program.ts';
import { printNote } from './output.ts';

/** Tells on standard error how an installation goes on: a line for each step. */
export function openProgress(): Progress {
  const isTerminal = process.stderr.isTTY;
  const clear = isTerminal ? '\r\u001B[K' : '';
  return {
    begin(title) {
      if (isTerminal) process.stderr.write(`${clear}… ${title}`);
    },
    end(title, isDone, seconds) {
      const line = isDone ? `✓ ${title} (${seconds.toFixed(1)} s)` : `· ${title}: already so`;
      process.stderr.write(`${clear}${line}\n`);
    },
    failed(reason, isUndone) {
      process.stderr.write(`${clear}✗ ${reason}\n`);
      if (isUndone) printNote('Undoing what was done …');
    },
  };
}

/** Shows each program that is run, and how it ended. */
export function showPrograms(runProgram: RunProgram): RunProgram {
  return async (program, args, options) => {
    const startedMs = performance.now();
    const result = await runProgram(program, args, options);
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    const line = [program, ...args].join(' ').replaceAll(/\p{Cc}/gu, ' ');
    printNote(`  $ ${line}  → ${result.code ?? result.fault} (${seconds} s)`);
    return result;
  };
}
