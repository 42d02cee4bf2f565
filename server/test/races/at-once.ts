/** Runs as many pieces of work at once, each with its number. */
export function atOnce<Result>(
  times: number,
  work: (index: number) => Promise<Result>,
): Promise<Result[]> {
  return Promise.all(Array.from({ length: times }, (_, index) => work(index)));
}

/** How often each value occurs. */
export function tally(values: readonly (string | number | null | undefined)[]) {
  const counts: Record<string, number> = {};
  for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1;
  return counts;
}

/** Turn and turn about, as a load balancer shares requests out. */
export function takeTurns<Item>(items: readonly [Item, ...Item[]]): (index: number) => Item {
  return (index) => items[index % items.length] ?? items[0];
}
