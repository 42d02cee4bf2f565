import { isRecord } from '#server/lib/unknown-values.ts';

const MAX_DEPTH = 8;
const MAX_IDS = 50;
const MAX_LENGTH = 200;

/** Lists the values of the fields named `id` or `…_id` in a body that cannot be translated, the outermost first. */
export function listIds(body: unknown): string[] {
  const ids = new Set<string>();
  let level: readonly unknown[] = [body];
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth += 1) {
    const entries = level.flatMap(listEntries);
    for (const [name, value] of entries) {
      if (ids.size < MAX_IDS && isId(name, value)) ids.add(value);
    }
    level = entries.map(([, value]) => value);
  }
  return [...ids];
}

function listEntries(value: unknown): (readonly [string, unknown])[] {
  if (Array.isArray(value)) return value.map((inner: unknown) => ['', inner] as const);
  return isRecord(value) ? Object.entries(value) : [];
}

function isId(name: string, value: unknown): value is string {
  return (
    /(?:^|_)id$/u.test(name) &&
    typeof value === 'string' &&
    value !== '' &&
    value.length <= MAX_LENGTH &&
    !value.includes('\0')
  );
}
