/** Returns the first characters of a text, at most `length`. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  // A character has at most two units of UTF-16; the rest of a long text is not split.
  const characters = Array.from(text.slice(0, 2 * length));
  return characters.slice(0, length).join('');
}
