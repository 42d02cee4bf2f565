/** An unknown variable that resembles a known one. */
export interface Typo {
  readonly given: string;
  readonly meant: string;
}

const PREFIX = 'LATCHKEY_';

/** The maximum edit distance; a name with three mistakes is another word. */
const MAX_MISTAKES = 2;

/**
 * Finds variables that are probably misspelled. Only names similar to known ones are reported, because the server and `install.sh`
 * have variables with the same prefix.
 * @param known the names of all variables of the installer
 */
export function findTypos(
  environment: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): Typo[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name))
    .flatMap((given) => {
      const meant = known.find((name) => countMistakes(given, name) <= MAX_MISTAKES);
      return meant === undefined ? [] : [{ given, meant }];
    });
}

/** Returns the optimal string alignment distance: insertions, deletions, replacements and swaps of neighbors. */
function countMistakes(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > MAX_MISTAKES) return Number.POSITIVE_INFINITY;
  let [before, last] = [
    new Array<number>(),
    Array.from({ length: other.length + 1 }, (_, at) => at),
  ];
  for (const [row, letter] of one.split('').entries()) {
    const next = [row + 1];
    for (const [column, theirs] of other.split('').entries()) {
      const replaced = (last[column] ?? 0) + (letter === theirs ? 0 : 1);
      const isSwapped = letter === other[column - 1] && theirs === one[row - 1];
      const swapped = isSwapped ? (before[column - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(replaced, swapped, (next[column] ?? 0) + 1, (last[column + 1] ?? 0) + 1));
    }
    [before, last] = [last, next];
  }
  return last.at(-1) ?? 0;
}
