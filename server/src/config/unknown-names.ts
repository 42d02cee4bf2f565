/** Kubernetes sets such variables for a Service called latchkey. */
const SERVICE_LINK = /^LATCHKEY_(?:SERVICE_|PORT_\d)/u;

/**
 * Finds `LATCHKEY_` variables that are not settings. A name close to a known one is probably misspelled, which is an error;
 * the others may belong to another version or program. Returns a sentence for each.
 */
export function findUnknownVariables(
  names: readonly string[],
  known: ReadonlySet<string>,
): { readonly misspelled: readonly string[]; readonly unrecognized: readonly string[] } {
  const misspelled: string[] = [];
  const unrecognized: string[] = [];
  for (const name of names) {
    if (!name.startsWith('LATCHKEY_') || known.has(name) || SERVICE_LINK.test(name)) continue;
    const closest = findClosestName(name, known);
    if (closest === undefined)
      unrecognized.push(`${name} is not a setting of Latchkey and has no effect.`);
    else misspelled.push(`${name} is not a setting of Latchkey: ${closest} was probably meant.`);
  }
  return { misspelled, unrecognized };
}

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
