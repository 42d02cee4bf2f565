/** What a viewer has not read yet. */
export interface Buffered {
  /** Bytes that wait in this process to be sent. */
  readonly waitingBytes: number;
  /** Ends the connection. */
  drop(why: string): void;
}

/**
 * All viewers together may have this much waiting. TLS may hold it three times (as it is, joined, encrypted), so that it stays
 * well below the 512 MiB that the unit allows the agent.
 */
export const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;

/** Drops the viewers with the most waiting, until all together have no more than a maximum. */
export function dropSlowest(viewers: Iterable<Buffered>, maxBytes = MAX_BUFFERED_BYTES): void {
  const sizes = Array.from(viewers, (viewer) => ({ viewer, bytes: viewer.waitingBytes }));
  let total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= maxBytes) return;
  for (const { viewer, bytes } of sizes.toSorted((one, other) => other.bytes - one.bytes)) {
    if (total <= maxBytes) return;
    viewer.drop('too much waited for all viewers, and it reads the slowest');
    total -= bytes;
  }
}
