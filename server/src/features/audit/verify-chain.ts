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
  /** The last verified entry. Null without entries, and for a broken chain. */
  readonly head: VerifiedHead | null;
  readonly problem: ChainBreak | null;
  /** Whether the chain was verified up to its newest entry. */
  readonly isComplete: boolean;
}

interface VerifyOptions {
  /** A head that was noted elsewhere: the chain must contain it. */
  readonly expected?: ChainPoint | null;
  /** Called with the number of verified entries. */
  readonly report?: (done: number) => void;
  /** Rounded up to a page. Default: all. */
  readonly maxEntries?: number;
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
  return verifyFrom(pool, START, BEFORE_ALL, { expected, report });
}

/**
 * Verifies a part of the audit log, so that the cost of a request is bounded.
 * @param after the last entry of the part before; null: from the first entry on
 */
export async function verifyPart(
  { pool }: { readonly pool: Pool },
  after: ChainPoint | null,
  maxEntries: number,
  expected: ChainPoint | null = null,
): Promise<Verification> {
  const options = { expected, maxEntries };
  if (after === null) return verifyFrom(pool, START, BEFORE_ALL, options);
  const stored = await findAuditPoint(pool, after.sequence);
  if (stored?.hash === after.hash) return verifyFrom(pool, after, after.sequence, options);
  const message =
    stored === null
      ? `Entry ${after.sequence} is missing.`
      : `Entry ${after.sequence} was replaced after it was verified.`;
  const problem = { sequence: after.sequence, message };
  return { verified: 0, head: null, problem, isComplete: false };
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
  return { verified: 0, head: null, problem, isComplete: false };
}

/** Counts the entries, and verifies the newest of them. */
export async function checkNewestEntries(
  deps: { readonly pool: Pool },
  count: number,
): Promise<{ readonly entries: number; readonly verification: Verification }> {
  const verification = await verifyNewestEntries(deps, count);
  const head = await findAuditHead(deps.pool);
  return { entries: head?.sequence ?? 0, verification };
}

/** Entries in memory at the same time. */
const PAGE_ROWS = 1_000;

async function verifyFrom(
  db: Queryable,
  start: ChainPoint,
  readAfter: number,
  { expected = null, report = () => {}, maxEntries = Infinity }: VerifyOptions = {},
): Promise<Verification> {
  let last: ChainPoint | ChainedEntry = start;
  for (let after = readAfter; ; after = last.sequence) {
    // Read before the page, so that every entry up to the head is visible to the page.
    const head = await findAuditHead(db);
    const page = await listChainPage(db, after, PAGE_ROWS);
    for (const entry of page) {
      const problem = findBreak(last, entry) ?? findUnexpected(entry, expected);
      if (problem !== null) return toVerification(start, last, problem, false);
      last = entry;
    }
    report(last.sequence - start.sequence);
    if (page.length > 0 && last.sequence - start.sequence < maxEntries) continue;
    if (page.length > 0) return toVerification(start, last, null, false);
    const problem = findBreakAtHead(last, head) ?? findCut(last, expected);
    return toVerification(start, last, problem, true);
  }
}

function toVerification(
  start: ChainPoint,
  last: ChainPoint | ChainedEntry,
  problem: ChainBreak | null,
  isComplete: boolean,
): Verification {
  const verified = last.sequence - start.sequence;
  if (problem !== null || !('content' in last)) {
    return { verified, head: null, problem, isComplete };
  }
  const { sequence, hash, content } = last;
  const head = { sequence, hash, occurredAt: content.occurred_at };
  return { verified, head, problem: null, isComplete };
}
