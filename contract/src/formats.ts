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
