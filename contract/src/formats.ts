const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether `text` is a UUID in the 8-4-4-4-12 form: no `urn:uuid:`, no braces, no bare 32 digits. */
export function isUuid(text: string): boolean {
  return text.length === 36 && UUID.test(text);
}

/** Whether PostgreSQL can store `text` as text and in jsonb: it contains neither U+0000 nor a lone surrogate. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
