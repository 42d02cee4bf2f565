/** Returns all permutations of items. */
export function* permute<Item>(items: readonly Item[]): Generator<Item[]> {
  if (items.length === 0) yield [];
  for (const [index, item] of items.entries()) {
    for (const rest of permute(items.toSpliced(index, 1))) yield [item, ...rest];
  }
}
