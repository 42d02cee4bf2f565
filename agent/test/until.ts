/** Waits for what threads send with a turn of the loop; the runner's limit ends a wait in vain. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}
