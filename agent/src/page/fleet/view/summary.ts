import { formatTime } from '../../browser/format.ts';
import type { Condition } from './problems.ts';

/** The numbers of machines by condition. */
export type Counts = Readonly<Record<Condition, number>>;

/** Counts machines by condition. */
export function countConditions(conditions: Iterable<Condition>): Counts {
  const counts = { calm: 0, problem: 0, unknown: 0 };
  for (const condition of conditions) counts[condition] += 1;
  return counts;
}

/** Describes all machines in a few words. */
export function describeCounts({ calm, problem, unknown }: Counts): string {
  const total = calm + problem + unknown;
  if (total === 0) return 'No machines yet';
  if (unknown === total) return total === 1 ? 'Connecting' : `Connecting to ${total} machines`;
  if (total === 1) return calm === 1 ? 'The machine is calm' : 'The machine needs attention';
  if (calm === total) return `All ${total} machines are calm`;
  if (calm === 0 && unknown === 0) return `None of ${total} machines is calm`;
  return `${calm} of ${total} machines ${calm === 1 ? 'is' : 'are'} calm`;
}

/** Describes the machines that are not calm; empty when all are. */
export function describeRest({ problem, unknown }: Counts): string {
  const parts = [
    problem === 0 ? '' : `${problem} ${problem === 1 ? 'needs' : 'need'} attention`,
    unknown === 0 ? '' : `${unknown} ${unknown === 1 ? 'has' : 'have'} not answered yet`,
  ];
  return parts.filter(Boolean).join(', ');
}

/** Returns the title of the tab, which shows the number of machines with problems first. */
export function describeTitle({ problem }: Counts, name: string, isPaused: boolean): string {
  const title = problem === 0 ? name : `(${problem}) ${name}`;
  return isPaused ? `Paused · ${title}` : title;
}

/** Describes a pause that has ended. @param fromMs and untilMs in epoch milliseconds */
export function describePause(fromMs: number, untilMs: number): string {
  const [from, until] = [fromMs, untilMs].map((each) => formatTime(each / 1000, true));
  return `This page was hidden and watched nothing from ${from} to ${until}.`;
}
