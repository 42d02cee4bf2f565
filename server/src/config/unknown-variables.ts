/** Kubernetes announces a Service called latchkey with such names. */
const serviceLink = /^LATCHKEY_(?:SERVICE_|PORT_\d)/u;

/**
 * Looks for `LATCHKEY_` names that nobody reads. One that is a slip of the pen away from a known name is a mistake
 * that would go unseen; the rest may belong to another version or another program. One sentence each.
 */
export function findUnknownVariables(
  names: readonly string[],
  known: ReadonlySet<string>,
): { readonly slips: readonly string[]; readonly strangers: readonly string[] } {
  const slips: string[] = [];
  const strangers: string[] = [];
  for (const name of names) {
    if (!name.startsWith('LATCHKEY_') || known.has(name) || serviceLink.test(name)) continue;
    const meant = [...known].find((candidate) => isSlip(name, candidate));
    if (meant === undefined)
      strangers.push(`${name} is not a setting of Latchkey and has no effect.`);
    else slips.push(`${name} is not a setting of Latchkey: ${meant} was probably meant.`);
  }
  return { slips, strangers };
}

/** Whether two names differ by one or two letters (Levenshtein distance). */
function isSlip(name: string, candidate: string): boolean {
  if (Math.abs(name.length - candidate.length) > 2) return false;
  let previous = Array.from({ length: candidate.length + 1 }, (_, index) => index);
  for (const [row, letter] of Array.from(name).entries()) {
    const current = [row + 1];
    for (const [column, other] of Array.from(candidate).entries()) {
      const swapped = (previous[column] ?? 0) + (letter === other ? 0 : 1);
      current.push(Math.min(swapped, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    previous = current;
  }
  return (previous.at(-1) ?? 0) <= 2;
}
