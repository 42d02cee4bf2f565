/**
 * Deletes rows in short statements of a bounded size until none is left or the signal aborts.
 * @param deleteBatch deletes at most `limit` rows and returns how many it deleted
 */
export async function deleteInBatches(
  signal: AbortSignal,
  limit: number,
  deleteBatch: (limit: number) => Promise<number>,
): Promise<void> {
  while (!signal.aborted && (await deleteBatch(limit)) === limit);
}
