/** A JSON object whose fields were not examined yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object, no array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses JSON; undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller handles texts that are not JSON.
    return undefined;
  }
}

/** Returns a value if it is a string, else null. */
export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Returns a value if it is a whole number that is exact, else null. */
export function integerOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
}
