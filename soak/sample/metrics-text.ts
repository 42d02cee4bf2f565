/** The sum and the number of observations of a histogram. */
interface Observed {
  readonly sum: number;
  readonly count: number;
}

const LINE =
  /^latchkey_batch_size_(?<part>sum|count)\{[^}]*batch="(?<batch>\w+)"[^}]*\} (?<value>\S+)$/u;

/** Reads the sizes of batches from the text of `/metrics`, by batch; several processes are added up. */
export function readBatchSizes(text: string): ReadonlyMap<string, Observed> {
  const found = new Map<string, Observed>();
  for (const line of text.split('\n')) {
    const { batch = '', part = '', value = '' } = LINE.exec(line)?.groups ?? {};
    if (batch === '') continue;
    const { count, sum } = found.get(batch) ?? { sum: 0, count: 0 };
    const number = Number(value);
    found.set(
      batch,
      part === 'sum' ? { count, sum: sum + number } : { sum, count: count + number },
    );
  }
  return found;
}

/** Returns the average size of the batches between two readings; null without a batch, or after a restart. */
export function averageSize(before: Observed | undefined, after: Observed): number | null {
  const count = after.count - (before?.count ?? 0);
  const sum = after.sum - (before?.sum ?? 0);
  return count > 0 && sum > 0 ? sum / count : null;
}
