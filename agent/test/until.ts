/** Polls a condition once per turn of the event loop; the timeout of the test runner ends an endless wait. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}
