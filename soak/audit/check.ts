/** A promise, and whether the database keeps it. */
export interface Check {
  readonly promise: string;
  /** How many acknowledged facts were compared. */
  readonly compared: number;
  /** A sentence for each contradiction; empty: the promise was kept. */
  readonly problems: readonly string[];
}

/** Creates a check of counted contradictions. @param problems the number and the sentence of each kind */
export function createCheck(
  promise: string,
  compared: number,
  problems: readonly (readonly [count: number, sentence: string])[],
): Check {
  return {
    promise,
    compared,
    problems: problems
      .filter(([count]) => count > 0)
      .map(([count, sentence]) => `${count} ${sentence}`),
  };
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
