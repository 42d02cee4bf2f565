import { posix } from 'node:path';

import type { NginxFile } from '../facts.ts';
import { paths } from '../paths.ts';
import type { EditStep } from '../steps.ts';
import { type Block, readWord } from './directives.ts';
import { describeNode, isIncluded } from './read-configuration.ts';
import type { Server } from './servers.ts';
import { NginxFault, type Token, tokenize } from './tokens.ts';

/** An `include` of one file in a text. */
export interface Include {
  /** The absolute path of the included file. */
  readonly path: string;
  readonly start: number;
  /** The offset after its semicolon. */
  readonly end: number;
}

/**
 * Finds the `include` directives of these files in any form that nginx accepts: absolute or relative, quoted, with any space or
 * comment between. Patterns are skipped, because nginx also starts when they match nothing.
 * @param directory the directory of nginx's main file
 * @returns the includes in order; none for a text that nginx would also reject
 */
export function findIncludes(
  text: string,
  wanted: readonly string[],
  directory: string,
): readonly Include[] {
  const found: Include[] = [];
  let words: Token[] = [];
  for (const token of readTokens(text)) {
    if (token.kind === 'word') words.push(token);
    else if (token.kind !== 'space' && token.kind !== 'comment') {
      if (token.kind === 'semicolon') found.push(...readInclude(text, words, token, directory));
      words = [];
    }
  }
  return found.filter(({ path }) => wanted.includes(path));
}

function readInclude(
  text: string,
  words: readonly Token[],
  { end }: Token,
  directory: string,
): Include[] {
  const [name, pattern, ...others] = words;
  if (name === undefined || pattern === undefined || others.length > 0) return [];
  if (readWord(text, name) !== 'include') return [];
  const path = posix.resolve(directory, readWord(text, pattern));
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

const TAG = '# latchkey-agent';
const REST_OF_LINE = /^[ \t]*(?:# latchkey-agent[ \t]*)?(?:\r?\n)?$/;

/** The agent's files that the administrator's files include. */
export const snippets: readonly string[] = [paths.nginxRoute, paths.nginxChallenge];

/**
 * Inserts an `include` before the closing brace of a block, on a tagged line of its own; where the brace shares its line,
 * within that line and without a tag.
 */
export function includeAtEnd(text: string, block: Block, snippet: string): string {
  const lineStart = text.lastIndexOf('\n', block.close - 1) + 1;
  const isAlone = /^[ \t]*$/.test(text.slice(lineStart, block.close));
  if (!isAlone) return insert(text, block.close, `include ${snippet}; `);
  return insert(text, lineStart, renderLine(text, block, snippet));
}

/** Inserts an `include` after the opening brace, so that nginx processes it first. */
export function includeAtStart(text: string, block: Block, snippet: string): string {
  const lineEnd = text.indexOf('\n', block.open) + 1;
  const rest = text.slice(block.open + 1, lineEnd);
  const isAlone = lineEnd > 0 && /^[ \t]*(?:#.*)?\r?\n$/.test(rest);
  if (!isAlone) return insert(text, block.open + 1, `include ${snippet}; `);
  return insert(text, lineEnd, renderLine(text, block, snippet));
}

/**
 * Removes the `include` directives of the agent's files in every form, even when the file has changed since; all other characters stay.
 * A line that contains nothing else is removed with its tag.
 * @param taken the files that are no longer included
 */
export function removeIncludes(
  text: string,
  directory: string,
  taken: readonly string[] = snippets,
): string {
  let rest = text;
  for (const include of findIncludes(text, taken, directory).toReversed())
    rest = cut(rest, include);
  return rest;
}

function cut(text: string, { start, end }: Include): string {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const lineEnd = text.indexOf('\n', end) + 1 || text.length;
  const isAlone =
    /^[ \t]*$/.test(text.slice(lineStart, start)) && REST_OF_LINE.test(text.slice(end, lineEnd));
  if (isAlone) return text.slice(0, lineStart) + text.slice(lineEnd);
  return text.slice(0, start) + text.slice(text.charAt(end) === ' ' ? end + 1 : end);
}

/**
 * Removes the includes of a snippet outside of a block.
 * @param text the original text, to which the block's offsets refer
 * @param changed the text with an insertion in the block
 */
function removeOutside(
  { open, close }: Block,
  text: string,
  changed: string,
  snippet: string,
  directory: string,
): string {
  const end = changed.length - (text.length - close);
  const [head, tail] = [changed.slice(0, open), changed.slice(end)];
  return [
    removeIncludes(head, directory, [snippet]),
    changed.slice(open, end),
    removeIncludes(tail, directory, [snippet]),
  ].join('');
}

/** Removes the includes of the agent's other files, which an earlier installation may have added. */
export function keepIncludes(text: string, directory: string, kept: readonly string[]): string {
  return removeIncludes(
    text,
    directory,
    snippets.filter((each) => !kept.includes(each)),
  );
}

function renderLine(text: string, block: Block, snippet: string): string {
  const lineEnd = text.indexOf('\n', block.open);
  const end = text.charAt(lineEnd - 1) === '\r' ? '\r\n' : '\n';
  return `${findIndentation(text, block)}include ${snippet}; ${TAG}${end}`;
}

/**
 * Returns the indentation of the block's last directive that begins a line; otherwise four spaces more than the block's own.
 */
function findIndentation(text: string, block: Block): string {
  const indentations = block.directives.map(({ start }) => readIndentation(text, start));
  const last = indentations.findLast((each) => each !== null);
  return last ?? `${readIndentation(text, block.close) ?? ''}    `;
}

/** Returns the text before an offset in its line, if it is only space. */
function readIndentation(text: string, offset: number): string | null {
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*$/.test(before) ? before : null;
}

function insert(text: string, offset: number, piece: string): string {
  return text.slice(0, offset) + piece + text.slice(offset);
}

/** Returns the edit that includes only this snippet of the agent in a block; none where it is included already. */
export function includeSnippet(
  { node: { file, directive }, directives }: Server,
  snippet: string,
  at: 'start' | 'end',
  directory: string,
): readonly EditStep[] {
  if (directive.block === null) return [];
  const isThere = directives.some(
    ({ directive: { name, args } }) =>
      name === 'include' && isIncluded(args[0] ?? '', snippet, directory),
  );
  const include = at === 'end' ? includeAtEnd : includeAtStart;
  // An include elsewhere in the file belongs to another domain of an earlier installation.
  const included = isThere
    ? file.text
    : removeOutside(
        directive.block,
        file.text,
        include(file.text, directive.block, snippet),
        snippet,
        directory,
      );
  const after = keepIncludes(included, directory, [snippet]);
  return after === file.text ? [] : [{ kind: 'edit', path: file.path, before: file.text, after }];
}

/** Returns why the file of a block must not be changed, in one sentence; null when it may be. */
export function findFileBlocker({ node }: Server, directory: string): string | null {
  const { file } = node;
  const place = describeNode(node);
  if (!isConfiguration(file, directory)) {
    return `The site's server block is kept outside ${directory}/ (${place}, at ${file.realPath}).`;
  }
  if (!file.isWritable)
    return `The file of the site's server block cannot be written to (${place}).`;
  if (file.text.includes('\u{FFFD}')) {
    return `The file of the site's server block is not in UTF-8 (${place}).`;
  }
  return null;
}

function isConfiguration({ path, realPath }: NginxFile, directory: string): boolean {
  return [path, realPath].every((each) => each.startsWith(`${directory}/`));
}
