/** The first characters of a text, at most `length`. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  // A character takes two units of UTF-16 at most; a text of megabytes is not taken apart whole.
  const characters = Array.from(text.slice(0, 2 * length));
  return characters.slice(0, length).join('');
}
