import type { PathState } from './path-state.ts';
import { isKind } from './kinds.ts';
import type { Before, Entry, Facts, Subject } from './step-kind.ts';

export type Line =
  /** A step of a completed installation. */
  | { readonly line: 'done'; readonly entry: Entry }
  /** A run began; with the register of the installation before it. */
  | { readonly line: 'begin'; readonly installed: string | null }
  /** A step, or the undo of an earlier one, is about to change the machine. */
  | { readonly line: 'before'; readonly action: Action; readonly entry: Entry }
  /** The change completed. */
  | { readonly line: 'after'; readonly after: Facts }
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
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const lines = whole.split('\n').slice(0, -1);
  return lines.map((each, index) => {
    const line = parseLine(each);
    if (line === null) {
      throw new Error(
        `${path}:${index + 1} is damaged, so it is not known what to undo: put that file back from a backup, or move it away and undo by hand what it lists.`,
      );
    }
    return line;
  });
}

function parseLine(text: string): Line | null {
  const fields = parseFields(text);
  if (fields === null) return null;
  const { line, action, installed = null, name } = fields;
  if (line === 'begin') {
    return installed === null || typeof installed === 'string' ? { line, installed } : null;
  }
  if (line === 'undone') return typeof name === 'string' ? { line, name } : null;
  if (line === 'after') {
    const after = readFacts(fields['after']);
    return after === null ? null : { line, after };
  }
  const entry = readEntry(fields['entry']);
  if (entry === null) return null;
  if (line === 'done') return { line, entry };
  const isAction = action === 'apply' || action === 'remove';
  return line === 'before' && isAction ? { line, action, entry } : null;
}

type Fields = Readonly<Record<string, unknown>>;

function parseFields(text: string): Fields | null {
  try {
    return readFields(JSON.parse(text));
  } catch {
    // The caller reports the line as damaged.
    return null;
  }
}

function readFields(value: unknown): Fields | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return Object.fromEntries(Object.entries(value));
}

function readEntry(value: unknown): Entry | null {
  const { kind, subject, before, after = null } = readFields(value) ?? {};
  const known = readSubject(subject);
  const earlier = readBefore(before);
  const left = after === null ? null : readFacts(after);
  if (typeof kind !== 'string' || !isKind(kind) || known === null || earlier === null) return null;
  if (after !== null && left === null) return null;
  return { kind, subject: known, before: earlier, after: left };
}

function readSubject(value: unknown): Subject | null {
  const entries = Object.entries(readFields(value) ?? { value });
  const texts = entries.flatMap(([key, text]) => (typeof text === 'string' ? [[key, text]] : []));
  return texts.length === entries.length ? Object.fromEntries(texts) : null;
}

function readBefore(value: unknown): Before | null {
  const fields = readFields(value);
  const facts = readFacts(fields?.['facts']);
  const paths = fields?.['paths'];
  if (facts === null || !Array.isArray(paths)) return null;
  const states = paths.flatMap((each: unknown) => readState(readFields(each) ?? {}) ?? []);
  return states.length === paths.length ? { paths: states, facts } : null;
}

function readFacts(value: unknown): Facts | null {
  const fields = readFields(value);
  if (fields === null) return null;
  const entries = Object.entries(fields).map(([key, each]) => [key, readTexts(each)] as const);
  if (entries.some(([, texts]) => texts === null)) return null;
  return Object.fromEntries(entries.map(([key, texts]) => [key, texts ?? []]));
}

function readTexts(value: unknown): string[] | null {
  if (!Array.isArray(value)) return null;
  const texts = value.filter((each: unknown) => typeof each === 'string');
  return texts.length === value.length ? texts : null;
}

function readState(fields: Fields): PathState | null {
  const { type, path, target, mode, uid, gid, sha256, modifiedMs, backup } = fields;
  if (typeof path !== 'string' || !path.startsWith('/')) return null;
  if (type === 'absent') {
    const missing = readTexts(fields['missing']);
    return missing === null ? null : { type, path, missing };
  }
  if (type === 'link') return typeof target === 'string' ? { type, path, target } : null;
  if (typeof mode !== 'number' || typeof uid !== 'number' || typeof gid !== 'number') return null;
  const access = { mode, uid, gid };
  if (type === 'directory') return { type, path, ...access };
  if (type !== 'file' || typeof sha256 !== 'string' || typeof backup !== 'string') return null;
  if (typeof modifiedMs !== 'number') return null;
  return { type, path, ...access, sha256, modifiedMs, backup };
}
