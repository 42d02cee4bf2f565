import { checkSync, type VulnerableDiagnostics } from 'recheck';

import type { FoundExpression } from './find-expressions.ts';

/** The slowest takes 18 s of processor time, and other programs may run beside it. */
const TIMEOUT_MS = 180_000;

/**
 * Checks that the time of an expression is linear in the length of the text.
 * @returns null if it is; else a sentence with the reason
 */
export function findProblem({
  source,
  flags,
}: Pick<FoundExpression, 'source' | 'flags'>): string | null {
  // The one in JavaScript: others need Java, or a program for the platform.
  process.env['RECHECK_SYNC_BACKEND'] = 'pure';
  // recheck does not know the flag of positions, which has no effect on time.
  const result = checkSync(source, flags.replace('d', ''), { timeout: TIMEOUT_MS });
  switch (result.status) {
    case 'safe':
      return null;
    case 'unknown':
      return `cannot be decided (${result.error.kind})`;
    case 'vulnerable':
      return isFalseAlarm(result, new RegExp(source, flags))
        ? null
        : `is ${result.complexity.summary}, for example on ${result.attack.pattern}`;
  }
}

/** The attacks of recheck are so long that an expression that is not linear takes seconds. */
const LINEAR_MS = 100;

/**
 * Whether an attack that recheck found by trial has no effect here: its own engine counts other steps for lookbehind. What it
 * derives from the automaton is a proof.
 */
function isFalseAlarm({ checker, attack }: VulnerableDiagnostics, expression: RegExp): boolean {
  if (checker !== 'fuzz') return false;
  const before = process.cpuUsage();
  expression.exec(attack.string);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 < LINEAR_MS;
}
