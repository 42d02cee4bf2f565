const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether `text` is a UUID in the 8-4-4-4-12 form: no `urn:uuid:`, no braces, no bare 32 digits. */
export function isUuid(text: string): boolean {
  return text.length === 36 && UUID.test(text);
}

/**
 * Whether `text` can be stored as PostgreSQL text and inside jsonb:
 * it holds neither U+0000 nor half of a surrogate pair.
 */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

interface Place {
  readonly value: unknown;
  readonly key: string | number;
  readonly parent: Place | undefined;
}

/**
 * Looks through any JSON value, keys included, for text that cannot be stored.
 * Keeps its own stack, so that deep nesting costs memory and never a stack overflow.
 * @returns the way to the first such text and the text itself, or undefined when all is well.
 */
export function findUnstorableText(
  root: unknown,
): { path: (string | number)[]; text: string } | undefined {
  const open: Place[] = [{ value: root, key: '', parent: undefined }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { value } = place;
    if (typeof value === 'string') {
      if (!isStorableText(value)) return { path: pathTo(place), text: value };
    } else if (Array.isArray(value)) {
      for (let index = value.length - 1; index >= 0; index -= 1) {
        open.push({ value: value[index], key: index, parent: place });
      }
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value).toReversed()) {
        if (!isStorableText(key)) return { path: pathTo(place), text: key };
        open.push({ value: inner, key, parent: place });
      }
    }
  }
  return undefined;
}

function pathTo(place: Place): (string | number)[] {
  const path: (string | number)[] = [];
  for (let at = place; at.parent !== undefined; at = at.parent) path.unshift(at.key);
  return path;
}
