/**
 * The known name that an unknown one was probably meant to be: one or two letters away (Levenshtein distance), and not a
 * different word altogether. Undefined when none is close.
 */
export function findClosestName(name: string, known: Iterable<string>): string | undefined {
  for (const candidate of known) {
    const distance = editDistance(name, candidate);
    if (distance <= 2 && distance * 2 < candidate.length) return candidate;
  }
  return undefined;
}

function editDistance(name: string, candidate: string): number {
  // More than two letters longer or shorter is more than two changes away: no need to count them.
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
