/** Text of clients and customers on a terminal: without control characters, and measured in columns. */

/** Control characters, which a terminal executes, and characters that reverse the direction of text. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Replaces control characters and line breaks by dots. */
export function cleanText(text: string): string {
  return text.replaceAll(CONTROLS, '·');
}

/** Escapes the control characters that `JSON.stringify` leaves unescaped. */
export function cleanJson(json: string): string {
  return json.replaceAll(/[\u007f-\u009f\u2028\u2029]|\p{Bidi_Control}/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Accents and joiners, which have no width. */
const ZERO_WIDTH = /^[\p{M}\p{Cf}]$/u;

/** East Asian characters and emoji are two columns wide, except the half-width forms. */
const WIDE =
  /^(?![\uff61-\uffdc])[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]$/u;

/** Returns the width of a text in columns. */
export function widthOf(text: string): number {
  if (/^[\u0020-\u007e]*$/u.test(text)) return text.length;
  return Array.from(text).reduce((width, character) => width + widthOfCharacter(character), 0);
}

/** Pads a text with spaces to a width in columns. */
export function padText(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** Cuts a text to a width in columns; an ellipsis in the last column marks the cut. */
export function shortenText(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let [kept, used] = ['', 0];
  for (const character of text) {
    used += widthOfCharacter(character);
    if (used > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

function widthOfCharacter(character: string): number {
  if (ZERO_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
