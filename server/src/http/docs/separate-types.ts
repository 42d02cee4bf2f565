/**
 * Writes a schema of several types as `anyOf` a schema of each, because generators for languages with static types know `type` lists only
 * as "or null". The meaning is the same.
 */
export function separateTypes<Schema>(document: Schema): Schema;
export function separateTypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => separateTypes(each));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]): [string, unknown] => {
    const isSeparated = name === 'type' && isSeveral(each);
    return isSeparated ? ['anyOf', each.map((type) => ({ type }))] : [name, separateTypes(each)];
  });
  return Object.fromEntries(entries);
}

function isSeveral(type: unknown): type is readonly unknown[] {
  return Array.isArray(type) && type.filter((each) => each !== 'null').length > 1;
}
