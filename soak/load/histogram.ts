/** Buckets of an octave: a percentile is at most 9 % too high. */
const PER_OCTAVE = 8;
const LOWEST_MS = 0.1;

/** Up to 100 seconds. */
export const BUCKETS = Math.ceil(PER_OCTAVE * Math.log2(100_000 / LOWEST_MS));

/** Returns the bucket of a latency. */
export function bucketOf(latencyMs: number): number {
  if (latencyMs <= LOWEST_MS) return 0;
  return Math.min(BUCKETS - 1, Math.ceil(PER_OCTAVE * Math.log2(latencyMs / LOWEST_MS)));
}

/** Returns the percentile of latencies in milliseconds, the upper bound of its bucket; null without latencies. */
export function percentile(counts: Uint32Array, share: number): number | null {
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return null;
  let below = 0;
  const bucket = counts.findIndex((count) => (below += count) >= all * share);
  return LOWEST_MS * 2 ** (bucket / PER_OCTAVE);
}
