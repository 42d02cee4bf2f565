/**
 * Returns the known name that a misspelled one is closest to: at most two edits away (Levenshtein distance), and less than
 * half of its length. Undefined when no name is that close.
 */
export function findClosestName(name: string, known: Iterable<string>): string | undefined {
  for (const candidate of known) {
    const distance = editDistance(name, candidate);
    if (distance <= 2 && distance * 2 < candidate.length) return candidate;
  }
  return undefined;
}

function editDistance(name: string, candidate: string): number {
  // Names that differ by more than two in length are more than two edits apart.
  if (Math.abs(name.length - candidate.length) > 2) return Infinity;
  let previous = Array.from({ length: candidate.length + 1 }, (_, index) => index);
  for (const [row, letter] of Array.from(name).entries()) {
    const current = [row + 1];
    for (const [column, other] of Array.from(candidate).entries()) {
      const swapped = (previous[column] ?? 0) + (letter === other ? 0 : 1);
      current.push(Math.min(swapped, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
