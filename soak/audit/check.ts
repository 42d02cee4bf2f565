import type { Facts } from '../ledger/counters.ts';

/** A promise, and whether the database keeps it. */
export interface Check {
  readonly promise: string;
  /** How many acknowledged facts were compared. */
  readonly compared: number;
  /** A sentence for each contradiction; empty: the promise was kept. */
  readonly problems: readonly string[];
}

/** How much was compared. A plan of which nothing was acknowledged contradicts the promise: it would prove nothing. */
interface CheckNumbers {
  readonly planned: number;
  readonly compared: number;
}

/** Creates a check of counted contradictions. @param problems the number and the sentence of each kind */
export function createCheck(
  promise: string,
  { compared, planned }: CheckNumbers,
  problems: readonly (readonly [count: number, sentence: string])[],
): Check {
  const found = problems
    .filter(([count]) => count > 0)
    .map(([count, sentence]) => `${count} ${sentence}`);
  const isEmpty = compared === 0 && planned > 0;
  return {
    promise,
    compared,
    problems: isEmpty ? [`nothing was acknowledged, of ${planned} planned`, ...found] : found,
  };
}

/** Returns how many changes were planned and acknowledged. */
export function numbersOf(facts: Facts): CheckNumbers {
  return { planned: facts.size, compared: facts.countAcknowledged() };
}

const CHUNK = 5_000;

/** Compares many facts in chunks, and adds up the counts that each comparison returns. */
export async function sumChunks<Counts extends Readonly<Record<string, number>>>(
  size: number,
  compare: (indexes: readonly number[]) => Promise<Counts | null>,
): Promise<Partial<Record<keyof Counts, number>>> {
  const sums: Partial<Record<keyof Counts, number>> = {};
  for (let first = 0; first < size; first += CHUNK) {
    const length = Math.min(CHUNK, size - first);
    const counts = await compare(Array.from({ length }, (_, index) => first + index));
    if (counts === null) continue;
    for (const name in counts) sums[name] = (sums[name] ?? 0) + (counts[name] ?? 0);
  }
  return sums;
}
