import type { Pool } from 'pg';

import type { Queryable } from '#server/db/statement.ts';

import { findAuditHead, findAuditPoint, listChainPage } from './queries/chain.ts';
import { GENESIS_HASH } from './rules/chain.ts';
import {
  findBreak,
  findBreakAtHead,
  findCut,
  findUnexpected,
  type ChainBreak,
  type ChainedEntry,
  type ChainPoint,
} from './rules/find-break.ts';

/** The newest entry of a verified chain. */
export interface VerifiedHead extends ChainPoint {
  /** ISO 8601 in UTC. */
  readonly occurredAt: string;
}

/** The result of a verification. */
export interface Verification {
  /** The number of entries before the first problem. */
  readonly verified: number;
  /** Null without entries, and for a broken chain. */
  readonly head: VerifiedHead | null;
  readonly problem: ChainBreak | null;
}

interface VerifyOptions {
  /** A head that was noted elsewhere: the chain must contain it. */
  readonly expected?: ChainPoint | null;
  /** Called with the number of verified entries. */
  readonly report?: (done: number) => void;
}

const START: ChainPoint = { sequence: 0, hash: GENESIS_HASH };

/** Below every sequence number, so that an inserted entry with an invalid one is found. */
const BEFORE_ALL = Number.MIN_SAFE_INTEGER;

/**
 * Verifies the whole audit log from its first entry, page by page, also while entries are added.
 * @returns the first problem, if there is one
 */
export function verifyAuditLog(
  { pool }: { readonly pool: Pool },
  { expected = null, report = () => {} }: VerifyOptions = {},
): Promise<Verification> {
  return verifyFrom(pool, START, BEFORE_ALL, expected, report);
}

/** Verifies the newest entries, in a few milliseconds; does not detect changes of older ones. */
export async function verifyNewestEntries(
  { pool }: { readonly pool: Pool },
  count: number,
): Promise<Verification> {
  const head = await findAuditHead(pool);
  const start = (head?.sequence ?? 0) - count;
  if (start <= 0) return verifyFrom(pool, START, BEFORE_ALL);
  const point = await findAuditPoint(pool, start);
  if (point !== null) return verifyFrom(pool, point, start);
  const problem = { sequence: start, message: `Entry ${start} is missing.` };
  return { verified: 0, head: null, problem };
}

/** Entries in memory at the same time. */
const PAGE_ROWS = 1_000;

async function verifyFrom(
  db: Queryable,
  start: ChainPoint,
  readAfter: number,
  expected: ChainPoint | null = null,
  report: (done: number) => void = () => {},
): Promise<Verification> {
  let last: ChainPoint | ChainedEntry = start;
  for (let after = readAfter; ; after = last.sequence) {
    // Read before the page, so that every entry up to the head is visible to the page.
    const head = await findAuditHead(db);
    const page = await listChainPage(db, after, PAGE_ROWS);
    for (const entry of page) {
      const problem = findBreak(last, entry) ?? findUnexpected(entry, expected);
      if (problem !== null) return toVerification(start, last, problem);
      last = entry;
    }
    report(last.sequence - start.sequence);
    if (page.length > 0) continue;
    const problem = findBreakAtHead(last, head) ?? findCut(last, expected);
    return toVerification(start, last, problem);
  }
}

function toVerification(
  start: ChainPoint,
  last: ChainPoint | ChainedEntry,
  problem: ChainBreak | null,
): Verification {
  const verified = last.sequence - start.sequence;
  if (problem !== null || !('content' in last)) return { verified, head: null, problem };
  const { sequence, hash, content } = last;
  return { verified, head: { sequence, hash, occurredAt: content.occurred_at }, problem: null };
}
