/**
 * Compares an answer with what is expected. An expected object may have fewer fields; everything else must be equal.
 * @returns where and how they differ, or null
 */
export function findDifference(expected: unknown, actual: unknown, path = ''): string | null {
  if (Array.isArray(expected)) {
    return Array.isArray(actual) && actual.length === expected.length
      ? findFirst(expected.entries(), actual, path)
      : describe(expected, actual, path);
  }
  if (isObject(expected)) {
    return isObject(actual)
      ? findFirst(Object.entries(expected), actual, path)
      : describe(expected, actual, path);
  }
  return Object.is(expected, actual) ? null : describe(expected, actual, path);
}

/** Compares two answers as a whole. @returns where and how they differ, or null */
export function findAnyDifference(one: unknown, other: unknown): string | null {
  return findDifference(one, other) ?? reverse(findDifference(other, one));
}

function findFirst(
  entries: Iterable<readonly [string | number, unknown]>,
  actual: object,
  path: string,
): string | null {
  const values = new Map<string, unknown>(Object.entries(actual));
  for (const [name, value] of entries) {
    const inner = path === '' ? String(name) : `${path}.${name}`;
    const difference = findDifference(value, values.get(String(name)), inner);
    if (difference !== null) return difference;
  }
  return null;
}

function describe(expected: unknown, actual: unknown, path: string): string {
  return `${path === '' ? 'the value' : path} is ${show(actual)} instead of ${show(expected)}`;
}

/** The values of {@link describe} in the other order. */
function reverse(difference: string | null): string | null {
  return (
    difference?.replace(
      / is (?<actual>.*) instead of (?<expected>.*)$/su,
      ' is $2 instead of $1',
    ) ?? null
  );
}

function show(value: unknown): string {
  return value === undefined ? 'absent' : JSON.stringify(value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
