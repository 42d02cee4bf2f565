import type { Context } from '#server/context.ts';

/** What tells the time twice. */
export type ClocksContext = Pick<Context, 'clock' | 'pool' | 'readDatabaseTime'>;

/**
 * The present moment by the slower of two clocks, the service's and the database's: what cannot be taken back, for instance
 * that a day is over for good, waits until both say so.
 */
export async function readEarlierTime({
  clock,
  pool,
  readDatabaseTime,
}: ClocksContext): Promise<Date> {
  const told = await readDatabaseTime(pool);
  const now = clock.now();
  return told < now ? told : now;
}
