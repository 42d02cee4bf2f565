import { posix } from 'node:path';

import { readWord } from './directives.ts';
import { NginxFault } from './nginx-fault.ts';
import { type Token, tokenize } from './tokens.ts';

/** nginx resolves relative paths from the directory of its main file. */
export const CONFIGURATION = '/etc/nginx';

/** An `include` of one file, where it stands in a text. */
export interface Include {
  /** The file, from the root on. */
  readonly path: string;
  readonly start: number;
  /** Behind its semicolon. */
  readonly end: number;
}

/**
 * Finds the `include` directives that name one of these files in any form that nginx accepts: absolute or relative, quoted, with
 * any space or comment between. Patterns are left out, since nginx starts also when they match nothing.
 * @returns in their order; none for a text that nginx could not read either
 */
export function findIncludes(text: string, wanted: readonly string[]): readonly Include[] {
  const found: Include[] = [];
  let words: Token[] = [];
  for (const token of readTokens(text)) {
    if (token.kind === 'word') words.push(token);
    else if (token.kind !== 'space' && token.kind !== 'comment') {
      if (token.kind === 'semicolon') found.push(...readInclude(text, words, token));
      words = [];
    }
  }
  return found.filter(({ path }) => wanted.includes(path));
}

/** Whether the pattern of an `include` matches a file. It is one of `glob(3)`, relative to the directory of the main file. */
export function isIncluded(pattern: string, path: string, prefix: string): boolean {
  const absolute = posix.resolve(prefix, pattern);
  const plain = absolute.replaceAll(/\*+/g, '*').replaceAll(/[{}()]/g, String.raw`\$&`);
  return path === absolute || posix.matchesGlob(path, plain);
}

function readInclude(text: string, words: readonly Token[], { end }: Token): Include[] {
  const [name, pattern, ...others] = words;
  if (name === undefined || pattern === undefined || others.length > 0) return [];
  if (readWord(text, name) !== 'include') return [];
  const path = posix.resolve(CONFIGURATION, readWord(text, pattern));
  return [{ path, start: name.start, end }];
}

function readTokens(text: string): readonly Token[] {
  try {
    return tokenize('', text);
  } catch (error) {
    if (error instanceof NginxFault) return [];
    throw error;
  }
}
