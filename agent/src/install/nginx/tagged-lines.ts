import { paths } from '../paths.ts';
import type { Block } from './directives.ts';
import { findIncludes, type Include } from './includes.ts';

const TAG = '# latchkey-agent';
const REST_OF_LINE = /^[ \t]*(?:# latchkey-agent)?[ \t]*(?:\r?\n)?$/;

/** Those of our files that a file of others may be made to load. */
export const snippets: readonly string[] = [paths.nginxRoute, paths.nginxChallenge];

/**
 * Puts an `include` of ours before the closing brace of a block, on a line of its own with the tag; where the brace shares its
 * line with more, within that line without one.
 */
export function includeAtEnd(text: string, block: Block, snippet: string): string {
  const lineStart = text.lastIndexOf('\n', block.close - 1) + 1;
  const isAlone = /^[ \t]*$/.test(text.slice(lineStart, block.close));
  if (!isAlone) return insert(text, block.close, `include ${snippet}; `);
  return insert(text, lineStart, makeLine(text, block, snippet));
}

/** Puts it behind the opening brace, so that nginx meets it before all else in the block. */
export function includeAtStart(text: string, block: Block, snippet: string): string {
  const lineEnd = text.indexOf('\n', block.open) + 1;
  const rest = text.slice(block.open + 1, lineEnd);
  const isAlone = lineEnd > 0 && /^[ \t]*(?:#.*)?\r?\n$/.test(rest);
  if (!isAlone) return insert(text, block.open + 1, `include ${snippet}; `);
  return insert(text, lineEnd, makeLine(text, block, snippet));
}

/**
 * Removes the `include` directives of our files in every form, also when the rest of the file has changed since; all other
 * characters stay. One that has its line for itself goes with the line and its tag.
 * @param taken the files of ours that are no longer to be loaded
 */
export function removeTaggedLines(text: string, taken: readonly string[] = snippets): string {
  let rest = text;
  for (const include of findIncludes(text, taken).toReversed()) rest = cut(rest, include);
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
 * Takes a file of ours out of all that lies around a block.
 * @param text as it was read, where the block has its place
 * @param changed the same with something put into the block
 */
export function removeAround(
  { open, close }: Block,
  text: string,
  changed: string,
  snippet: string,
): string {
  const end = changed.length - (text.length - close);
  const [head, tail] = [changed.slice(0, open), changed.slice(end)];
  return [
    removeTaggedLines(head, [snippet]),
    changed.slice(open, end),
    removeTaggedLines(tail, [snippet]),
  ].join('');
}

/** Takes out what loads any other file of ours, which an earlier installation may have put in. */
export function keepTaggedLines(text: string, kept: readonly string[]): string {
  return removeTaggedLines(
    text,
    snippets.filter((each) => !kept.includes(each)),
  );
}

function makeLine(text: string, block: Block, snippet: string): string {
  const lineEnd = text.indexOf('\n', block.open);
  const end = text.charAt(lineEnd - 1) === '\r' ? '\r\n' : '\n';
  return `${findIndentation(text, block)}include ${snippet}; ${TAG}${end}`;
}

/** As the last directive that begins a line of the block; else four spaces more than the block itself. */
function findIndentation(text: string, block: Block): string {
  const indentations = block.directives.map(({ start }) => readIndentation(text, start));
  const last = indentations.findLast((each) => each !== null);
  return last ?? `${readIndentation(text, block.close) ?? ''}    `;
}

/** What stands before an offset in its line, if that is space only. */
function readIndentation(text: string, offset: number): string | null {
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*$/.test(before) ? before : null;
}

function insert(text: string, offset: number, piece: string): string {
  return text.slice(0, offset) + piece + text.slice(offset);
}
