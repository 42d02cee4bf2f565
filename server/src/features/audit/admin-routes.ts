/** The audit log, for administrators. */
import {
  auditEntries,
  showAuditChain,
  verifyAuditLog,
  type AuditVerification,
} from '@latchkey/contract';

import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import { serveOperation } from '#server/http/serve-operation.ts';
import { createSerialLimiter } from '#server/lib/concurrency-limiter.ts';

import { serveList, type ListDependencies } from '../lists/serve-list.ts';
import { auditSource } from './list-entries.ts';
import { checkNewestEntries, verifyPart, type Verification } from './verify-chain.ts';

/** Entries that `GET …/chain` verifies, in some 20 ms. */
const NEWEST = 1_000;

/** Entries that one request verifies at most, in about half a second. */
const MAX_VERIFIED = 20_000;

export function registerAuditRoutes(app: App, deps: ListDependencies): void {
  serveList(app, deps, auditEntries, auditSource(deps));
  // One at a time, so that verifications take a part of one core and one connection.
  const limiter = createSerialLimiter(1);
  const showChain = async () => {
    const { entries, verification } = await limiter.run(() => checkNewestEntries(deps, NEWEST));
    const { verified, problem } = verification;
    return { entries, checked: verified, problem: problem?.message ?? null };
  };
  serveOperation(app, showAuditChain, showChain, OWN_SLOTS);
  serveOperation(
    app,
    verifyAuditLog,
    async ({ body: { after = null, expected = null } }) =>
      viewVerification(await limiter.run(() => verifyPart(deps, after, MAX_VERIFIED, expected))),
    OWN_SLOTS,
  );
}

function viewVerification(verification: Verification): AuditVerification {
  const { verified, head, problem, isComplete } = verification;
  return {
    verified,
    problem: problem?.message ?? null,
    complete: isComplete,
    last: head && { sequence: head.sequence, hash: head.hash, occurred_at: head.occurredAt },
  };
}
