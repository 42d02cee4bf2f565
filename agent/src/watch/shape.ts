/** What a value must be; a name that ends in `?` may be left out, and names that are not here may be there. */
export type Shape =
  | 'text'
  | 'number'
  | 'flag'
  | readonly [Shape]
  | { readonly [name: string]: Shape };

/** No machine has more of anything. */
const MAX_ITEMS = 4096;

/** Whether a value, as JSON gives it, has a shape. */
export function hasShape(value: unknown, shape: Shape): boolean {
  if (shape === 'text') return typeof value === 'string';
  if (shape === 'number') return typeof value === 'number' && Number.isFinite(value);
  if (shape === 'flag') return typeof value === 'boolean';
  if (isList(shape)) return isListOf(value, shape[0]);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const members = new Map<string, unknown>(Object.entries(value));
  return Object.entries(shape).every(([name, each]) => hasMember(members, name, each));
}

function hasMember(members: ReadonlyMap<string, unknown>, name: string, shape: Shape): boolean {
  if (!name.endsWith('?')) return hasShape(members.get(name), shape);
  const value = members.get(name.slice(0, -1));
  return value === undefined || hasShape(value, shape);
}

function isListOf(value: unknown, shape: Shape): boolean {
  if (!Array.isArray(value) || value.length > MAX_ITEMS) return false;
  return value.every((each: unknown) => hasShape(each, shape));
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}
