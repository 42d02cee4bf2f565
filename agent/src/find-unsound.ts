/**
 * Looks for a number that JSON cannot say (NaN, Infinity), which would reach viewers as null.
 * @returns the path of the first one, such as `cores.0.usage_ratio`; null when all is well
 */
export function findUnsound(value: unknown, path = ''): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : path;
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, inner] of Object.entries(value)) {
    const found = findUnsound(inner, name);
    if (found !== null) return path === '' ? found : `${path}.${found}`;
  }
  return null;
}
