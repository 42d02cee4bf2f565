import type { MemoryLimits } from './request-load.ts';
import type { WriteLimits } from './stalled-writes.ts';

/** Limits on what clients may take of a process. */
export interface HttpLimits extends MemoryLimits, WriteLimits {
  /** Connections at the same time. */
  readonly maxConnections: number;
  /** How often progress and load are judged. */
  readonly sweepIntervalMs: number;
}

/** The limits of a service. */
export const HTTP_LIMITS: HttpLimits = {
  usualBytes: 96 * 1024 * 1024,
  largeBytes: 32 * 1024 * 1024,
  writeStallMs: 20_000,
  // The largest answer, a script of 1.4 MB, then needs 5 kB a second.
  writeDeadlineMs: 300_000,
  maxConnections: 10_000,
  sweepIntervalMs: 1_000,
};
