/**
 * What spreadsheets and their locales split a line at, besides the comma of the file: the part after it becomes a cell.
 */
const SEPARATOR = String.raw`[,;\t\|\r\n\v\f\u0085\u2028\u2029]`;

/** What a spreadsheet may remove or not show before it reads a formula; the apostrophe is that of an escape. */
const IGNORED = String.raw`(?:(?!${SEPARATOR})[\s\p{Cc}\p{Cf}\p{DI}"'])`;

/** The characters that begin a formula, and those that NFKC replaces by one, which some spreadsheets read like it. */
const FORMULA = String.raw`[=+\-@＝＋－＠﹢﹣﹦﹫⁺⁼₊₌⩵⩶﬩]`;

/** The beginning of a formula, at the start or after a separator. Ignored characters are no separators: linear. */
const FORMULA_START = new RegExp(`(?<=^|${SEPARATOR})(?=${IGNORED}*${FORMULA})`, 'gu');

const ESCAPED_START = new RegExp(`(?<=^|${SEPARATOR})'(?=${IGNORED}*${FORMULA})`, 'gu');

/**
 * Prefixes each part of a text that a spreadsheet might run as a formula with an apostrophe, whichever separator it uses
 * (OWASP, CSV Injection): the German and French ones split at `;`, where quotes of the comma's cells do not help.
 */
export function escapeFormulas(text: string): string {
  return text.replaceAll(FORMULA_START, "'");
}

/** Returns the text that {@link escapeFormulas} was called with. */
export function unescapeFormulas(text: string): string {
  return text.replaceAll(ESCAPED_START, '');
}
