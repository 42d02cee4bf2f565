/** The style of a text; ignored by terminals without colours. */
export type Style = 'plain' | 'bold' | 'dim' | 'cyan' | 'green' | 'yellow' | 'red';

/** A piece of a line. */
export interface Span {
  readonly text: string;
  readonly style: Style;
}

export type Line = readonly Span[];

export function span(text: string, style: Style = 'plain'): Span {
  return { text, style };
}

/** The maximum length of a path. */
const MAX_CHARACTERS = 4096;

/** Replaces control characters, and removes excessive combining marks. */
export function sanitize(text: string): string {
  return text
    .slice(0, MAX_CHARACTERS)
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '·')
    .replaceAll(/(?<=\p{M}{2})\p{M}+/gu, '');
}

/** Returns the number of columns of a text in a terminal. */
export function widthOf(text: string): number {
  if (/^[\u0020-\u007e]*$/u.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** Truncates a text with an ellipsis. */
export function cutText(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let [kept, used] = ['', 0];
  for (const character of text) {
    used += widthOfCharacter(character);
    if (used > width - 1) break;
    kept += character;
  }
  return width < 1 ? '' : `${kept}…`;
}

/** Truncates or pads a text to a width. */
export function fitText(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const cut = cutText(text, width);
  const room = ' '.repeat(Math.max(0, width - widthOf(cut)));
  return side === 'left' ? `${cut}${room}` : `${room}${cut}`;
}

export function lineWidth(line: Line): number {
  return line.reduce((sum, { text }) => sum + widthOf(text), 0);
}

/** Truncates or pads a line to a width. */
export function fitLine(line: Line, width: number): Line {
  const fitted: Span[] = [];
  let room = width;
  for (const { text, style } of line) {
    const cut = cutText(text, room);
    if (cut !== '') fitted.push({ text: cut, style });
    room -= widthOf(cut);
    if (cut !== text) break;
  }
  return room > 0 ? [...fitted, span(' '.repeat(room))] : fitted;
}

function widthOfCharacter(character: string): number {
  if (/^\p{M}$/u.test(character)) return 0;
  const isWide =
    /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]$/u;
  return isWide.test(character) ? 2 : 1;
}
