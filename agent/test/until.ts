/** Waits for what threads send with a turn of the loop; the runner's limit ends a wait in vain. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
