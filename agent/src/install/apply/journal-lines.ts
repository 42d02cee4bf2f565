// The lines of the journal, one JSON object each.
import {
  type Fields,
  parseFields,
  parseList,
  parseNullable,
  parseNumber,
  parseOneOf,
  parseText,
} from '../../system/json.ts';
import { isKind } from './kinds.ts';
import type { CapturedState, Entry, JournalFacts, PathState } from './journal-entry.ts';

export type Line =
  /** A step of a completed installation. */
  | { readonly line: 'done'; readonly entry: Entry }
  /** A run began; with the register of the installation before it. */
  | { readonly line: 'begin'; readonly installed: string | null }
  /** A step, or the undo of an earlier one, is about to change the machine. */
  | { readonly line: 'before'; readonly action: Action; readonly entry: Entry }
  /** The change completed. */
  | { readonly line: 'after'; readonly after: JournalFacts }
  /** A step of a completed installation was undone. */
  | { readonly line: 'undone'; readonly name: string };

export type Action = 'apply' | 'remove';

export function formatLine(line: Line): string {
  return `${JSON.stringify(line)}\n`;
}

/**
 * Parses a journal. A torn last line was being written when the machine stopped, before its change began.
 * @throws Error naming the damaged line
 */
export function parseJournal(text: string, path: string): Line[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line, index) => {
    try {
      return parseLine(parseFields(JSON.parse(line)));
    } catch (error) {
      const message = `${path}:${index + 1} is damaged, so the changes to undo are unknown: restore that file from a backup, or move it away and undo what it lists.`;
      throw new Error(message, { cause: error });
    }
  });
}

function parseLine(fields: Fields): Line {
  const { line, action, after, entry, installed, name } = fields;
  switch (line) {
    case 'done':
      return { line, entry: parseEntry(entry) };
    case 'begin':
      return { line, installed: parseNullable(installed, parseText) };
    case 'before':
      return {
        line,
        action: parseOneOf(action, ['apply', 'remove']),
        entry: parseEntry(entry),
      };
    case 'after':
      return { line, after: parseJournalFacts(after) };
    case 'undone':
      return { line, name: parseText(name) };
    default:
      throw new TypeError('The type of the line is unknown.');
  }
}

function parseEntry(value: unknown): Entry {
  const { kind, subject, before, after } = parseFields(value);
  if (typeof kind !== 'string' || !isKind(kind)) throw new TypeError('The kind is unknown.');
  return {
    kind,
    subject: mapFields(subject, parseText),
    before: parseCapturedState(before),
    after: parseNullable(after, parseJournalFacts),
  };
}

function parseCapturedState(value: unknown): CapturedState {
  const { paths, facts } = parseFields(value);
  return { paths: parseList(paths, parseState), facts: parseJournalFacts(facts) };
}

function parseJournalFacts(value: unknown): JournalFacts {
  return mapFields(value, parseTexts);
}

function parseTexts(value: unknown): string[] {
  return parseList(value, parseText);
}

function mapFields<T>(value: unknown, parse: (value: unknown) => T): Readonly<Record<string, T>> {
  const entries = Object.entries(parseFields(value));
  return Object.fromEntries(entries.map(([name, each]) => [name, parse(each)]));
}

function parseState(value: unknown): PathState {
  const fields = parseFields(value);
  const path = parseText(fields['path']);
  if (!path.startsWith('/')) throw new TypeError('The path is not absolute.');
  const type = parseOneOf(fields['type'], ['absent', 'link', 'directory', 'file']);
  if (type === 'absent') return { type, path, missing: parseTexts(fields['missing']) };
  if (type === 'link') return { type, path, target: parseText(fields['target']) };
  const access = {
    mode: parseNumber(fields['mode']),
    uid: parseNumber(fields['uid']),
    gid: parseNumber(fields['gid']),
  };
  if (type === 'directory') return { type, path, ...access };
  const modifiedMs = parseNumber(fields['modifiedMs']);
  return { type, path, ...access, modifiedMs, backup: parseText(fields['backup']) };
}
