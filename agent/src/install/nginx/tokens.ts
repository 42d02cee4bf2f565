/** A configuration that cannot be parsed. The message is a sentence for the administrator. */
export class NginxFault extends Error {
  override readonly name = 'NginxFault';
}

/** Returns a fault with file and line. */
export function faultAt(path: string, text: string, offset: number, what: string): NginxFault {
  return new NginxFault(`${describePlace(path, text, offset)} is not understood: ${what}.`);
}

/** Returns file and line of an offset: `/etc/nginx/nginx.conf, line 12`. */
export function describePlace(path: string, text: string, offset: number): string {
  return `${path}, line ${text.slice(0, offset).split('\n').length}`;
}

/** What begins in Lua with a brace, a long comment (`--[==[`), a comment, a long string (`[==[`) or a string. */
const LUA_PARTS = /[{}]|--\[(?<comment>=*)\[|--[^\n]*|\[(?<long>=*)\[|["']/g;
/** The rest of a string in Lua, up to its quote. */
const LUA_STRINGS = {
  '"': /[^"\\\n]*(?:\\[^][^"\\\n]*)*"/y,
  "'": /[^'\\\n]*(?:\\[^][^'\\\n]*)*'/y,
};

/**
 * Finds the end of a Lua block (`content_by_lua_block { … }`), whose strings and comments may contain braces.
 * @param start the offset of its opening brace
 * @returns the offset after its closing brace; null when there is none, or a string or a long comment does not end
 */
function findLuaEnd(text: string, start: number): number | null {
  let depth = 0;
  for (let at = start; ;) {
    LUA_PARTS.lastIndex = at;
    const found = LUA_PARTS.exec(text);
    if (found === null) return null;
    if (found[0] === '{') depth += 1;
    if (found[0] === '}') depth -= 1;
    if (depth === 0) return LUA_PARTS.lastIndex;
    at = findPartEnd(text, LUA_PARTS.lastIndex, found);
    if (at === -1) return null;
  }
}

/** Returns where a part ends; -1 when it does not. @param begun where the text within it begins */
function findPartEnd(
  text: string,
  begun: number,
  { 0: first, groups = {} }: RegExpExecArray,
): number {
  if (first === '"' || first === "'") {
    const end = match(LUA_STRINGS[first], text, begun);
    return end === begun ? -1 : end;
  }
  const level = groups['comment'] ?? groups['long'];
  if (level === undefined) return begun;
  const bracket = `]${level}]`;
  const end = text.indexOf(bracket, begun);
  return end === -1 ? -1 : end + bracket.length;
}

/** A section of the text; all tokens joined are the text. `lua` is a whole Lua block with its braces. */
export interface Token {
  readonly kind: 'space' | 'comment' | 'word' | 'semicolon' | 'open' | 'close' | 'lua';
  readonly start: number;
  readonly end: number;
}

/** More than any real configuration. */
const MAX_CHARACTERS = 4_194_304;

/** In unquoted words nginx accepts quotes, `#` and `}`; `${` does not open a block. */
const BARE = /(?:[^ \t\r\n;{\\$]|\\[^]|\$\{*)+/y;
const SPACE = /[ \t\r\n]+/y;
const COMMENT = /#[^\n]*/y;
const QUOTED = {
  '"': /"[^"\\]*(?:\\[^][^"\\]*)*"/y,
  "'": /'[^'\\]*(?:\\[^][^'\\]*)*'/y,
};
const SIGNS: Readonly<Record<string, Token['kind']>> = {
  ';': 'semicolon',
  '{': 'open',
  '}': 'close',
};

/**
 * Splits configuration into tokens as nginx does (`ngx_conf_read_token`), and keeps every character.
 * @param path the path for faults
 * @throws NginxFault for an unclosed quote or Lua block
 */
export function tokenize(path: string, text: string): readonly Token[] {
  if (text.length > MAX_CHARACTERS) throw faultAt(path, text, 0, 'it is too long');
  const tokens: Token[] = [];
  let name: string | null = null;
  let start = text.startsWith('\u{FEFF}') ? 1 : 0;
  if (start === 1) tokens.push({ kind: 'space', start: 0, end: 1 });
  while (start < text.length) {
    const token = readToken(path, text, start, name);
    tokens.push(token);
    if (token.kind === 'word') name ??= text.slice(start, token.end);
    else if (token.kind !== 'space' && token.kind !== 'comment') name = null;
    start = token.end;
  }
  return tokens;
}

/**
 * @param name the first word of the token's directive
 */
function readToken(path: string, text: string, start: number, name: string | null): Token {
  const first = text.charAt(start);
  if (/[ \t\r\n]/.test(first)) return { kind: 'space', start, end: match(SPACE, text, start) };
  if (first === '#') return { kind: 'comment', start, end: match(COMMENT, text, start) };
  if (first === '{' && name?.endsWith('_by_lua_block') === true) {
    const end = findLuaEnd(text, start);
    if (end === null) throw faultAt(path, text, start, 'a block of Lua does not end');
    return { kind: 'lua', start, end };
  }
  const sign = SIGNS[first];
  if (sign !== undefined) return { kind: sign, start, end: start + 1 };
  return { kind: 'word', start, end: findWordEnd(path, text, start) };
}

function findWordEnd(path: string, text: string, start: number): number {
  const first = text.charAt(start);
  if (first !== '"' && first !== "'") {
    const end = match(BARE, text, start);
    if (end > start) return end;
    throw faultAt(path, text, start, 'it ends in a backslash');
  }
  const end = match(QUOTED[first], text, start);
  if (end === start) throw faultAt(path, text, start, 'a quote does not end');
  if (end < text.length && !/[ \t\r\n;{)]/.test(text.charAt(end))) {
    throw faultAt(path, text, end, 'something follows a quote without a space');
  }
  return end;
}

/** Returns the end of a match that begins here; the start without one. */
function match(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : start;
}
