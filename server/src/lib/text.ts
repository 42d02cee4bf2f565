const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Returns the first characters of a text, at most `length`. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  // A character has at most two units of UTF-16; the rest of a long text is not split.
  const characters = Array.from(text.slice(0, 2 * length));
  return characters.slice(0, length).join('');
}

/** Returns a number with its noun: `1 event`, `2 events`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Escapes a text for HTML, between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/gu, (character) => ENTITIES[character] ?? '');
}

/** Formats 32 hexadecimal digits as a UUID; further digits are ignored. */
export function formatUuid(digits: string): string {
  const node = digits.slice(20, 32);
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${node}`;
}

/** Returns a text without spaces around it, or null if nothing is left. */
export function emptyToNull(text: string | null | undefined): string | null {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}

/** Formats a timestamp to the minute, in UTC. */
export function formatTimestamp(timestamp: Date): string {
  return `${timestamp.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
