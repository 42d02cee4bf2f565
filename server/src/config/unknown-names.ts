import { findClosestName } from '#server/lib/closest-name.ts';

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
