import { findClosestName } from '#server/lib/closest-name.ts';

/** Kubernetes announces a Service called latchkey with such names. */
const SERVICE_LINK = /^LATCHKEY_(?:SERVICE_|PORT_\d)/u;

/**
 * Looks for `LATCHKEY_` names that nobody reads. One that is a slip of the pen away from a known name is a mistake that
 * would go unnoticed; the rest may belong to another version or another program. One sentence each.
 */
export function findUnknownVariables(
  names: readonly string[],
  known: ReadonlySet<string>,
): { readonly slips: readonly string[]; readonly strangers: readonly string[] } {
  const slips: string[] = [];
  const strangers: string[] = [];
  for (const name of names) {
    if (!name.startsWith('LATCHKEY_') || known.has(name) || SERVICE_LINK.test(name)) continue;
    const meant = findClosestName(name, known);
    if (meant === undefined)
      strangers.push(`${name} is not a setting of Latchkey and has no effect.`);
    else slips.push(`${name} is not a setting of Latchkey: ${meant} was probably meant.`);
  }
  return { slips, strangers };
}
