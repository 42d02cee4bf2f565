import { canonicalizeContent, hashEntry, type AuditContent } from './chain.ts';

/** A position in the chain. */
export interface ChainPoint {
  readonly sequence: number;
  /** 64 hex digits. */
  readonly hash: string;
}

/** An entry as it is stored. */
export interface ChainedEntry extends ChainPoint {
  readonly content: AuditContent;
}

/** The first entry that breaks the chain. */
export interface ChainBreak {
  readonly sequence: number;
  /** One sentence. */
  readonly message: string;
}

/** Checks that an entry follows a position of the chain; returns null if it does. */
export function findBreak(previous: ChainPoint, entry: ChainedEntry): ChainBreak | null {
  const sequence = previous.sequence + 1;
  if (entry.sequence > sequence) return missingEntries(sequence, entry.sequence - 1);
  if (entry.sequence < sequence) {
    const message = `Entry ${entry.sequence} was inserted: entries are numbered from 1 on.`;
    return { sequence: entry.sequence, message };
  }
  if (isHashOf(previous, entry)) return null;
  const message = `Entry ${sequence} was changed or replaced: its hash is not that of its content and the entry before it.`;
  return { sequence, message };
}

function isHashOf(previous: ChainPoint, { sequence, hash, content }: ChainedEntry): boolean {
  try {
    return hashEntry(previous.hash, sequence, canonicalizeContent(content)) === hash;
  } catch {
    // A number that JSON cannot represent: never stored by Latchkey, so that the details were changed.
    return false;
  }
}

function missingEntries(first: number, last: number): ChainBreak {
  const message =
    first === last ? `Entry ${first} is missing.` : `Entries ${first} to ${last} are missing.`;
  return { sequence: first, message };
}

/** Checks the last entry of the log against the head, which was read after the entry. */
export function findBreakAtHead(last: ChainPoint, head: ChainPoint | null): ChainBreak | null {
  const next = last.sequence + 1;
  if (head === null) {
    const message = `Entries from ${next} on may be missing: the row of audit_head was removed.`;
    return { sequence: next, message };
  }
  if (head.sequence > last.sequence) return missingEntries(next, head.sequence);
  if (head.sequence < last.sequence) {
    const sequence = head.sequence + 1;
    return {
      sequence,
      message: `Entry ${sequence} was inserted: audit_head ends at entry ${head.sequence}.`,
    };
  }
  if (head.hash === last.hash) return null;
  const message = `Entry ${last.sequence} was replaced: audit_head contains another hash of it.`;
  return { sequence: last.sequence, message };
}

/** Checks an entry against a noted position of the chain; null if it is another entry. */
export function findUnexpected(entry: ChainPoint, expected: ChainPoint | null): ChainBreak | null {
  if (entry.sequence !== expected?.sequence || entry.hash === expected.hash) return null;
  const { sequence } = entry;
  const message = `Entry ${sequence} does not have the expected hash: it or an entry before it was replaced.`;
  return { sequence, message };
}

/** Checks that the log does not end before a noted position of the chain. */
export function findCut(last: ChainPoint, expected: ChainPoint | null): ChainBreak | null {
  if (expected === null || expected.sequence <= last.sequence) return null;
  const { sequence } = last;
  const message = `Entry ${sequence + 1} is missing: the log ends at entry ${sequence}, before the expected entry ${expected.sequence}.`;
  return { sequence: sequence + 1, message };
}
