/** Control characters could rewrite the terminal, and others turn the direction of the text around them. */
const OBEYED = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** A text of a stranger as it can be shown on one line of a terminal. */
export function cleanText(text: string): string {
  return text.replaceAll(OBEYED, '·');
}

/** JSON that no terminal obeys either: what `JSON.stringify` leaves as it is stands there by its number, which means the same. */
export function cleanJson(json: string): string {
  return json.replaceAll(/[\u007f-\u009f\u2028\u2029]|\p{Bidi_Control}/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Nothing of it is seen by itself: accents, and what joins characters. */
const WITHOUT_WIDTH = /^[\p{M}\p{Cf}]$/u;

/** East Asian characters and emoji, but for the narrow forms of the former. */
const WIDE =
  /^[[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]--[\uff61-\uffdc]]$/v;

/** How many columns a terminal takes for a text. */
export function widthOf(text: string): number {
  if (/^[\u0020-\u007e]*$/u.test(text)) return text.length;
  return Array.from(text).reduce((width, character) => width + widthOfCharacter(character), 0);
}

/** A text with spaces behind it, up to a width in columns. */
export function padText(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** Cuts a text that is wider, and says so by its last column. */
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
  if (WITHOUT_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
