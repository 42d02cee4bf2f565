/** Waits for what threads send with a turn of the loop; the runner's timeout ends a wait that does not succeed. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}
