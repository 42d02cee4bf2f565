/** The part of the day with faults: afterwards, what they left behind can settle under load. */
const FIRST = 0.08;
const LAST = 0.9;

/** A long run causes every fault again in each of these intervals. */
const ROUND_MS = 10 * 60_000;

/**
 * Plans when faults begin: evenly over the day, in order, each once in every ten minutes of the run.
 * @returns for each planned fault its index and its time after the start of the load
 */
export function planFaults(
  faults: number,
  durationMs: number,
): readonly { readonly fault: number; readonly atMs: number }[] {
  const rounds = Math.max(1, Math.floor(durationMs / ROUND_MS));
  const total = rounds * faults;
  return Array.from({ length: total }, (_, index) => ({
    fault: index % faults,
    atMs: durationMs * (FIRST + ((LAST - FIRST) * index) / total),
  }));
}
