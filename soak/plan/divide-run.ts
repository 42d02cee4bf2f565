/** How long a run may continue after its day: late faults, then requests that are late or repeated. */
const LONGEST_END_MS = 8 * 60_000;

const SHORTEST_MS = 1_000;

/**
 * Returns the length in milliseconds of the equal parts of a run, from its start until its latest end.
 * @param most parts
 */
export function divideRun(durationMs: number, most: number): number {
  return Math.max(SHORTEST_MS, (durationMs + LONGEST_END_MS) / most);
}
