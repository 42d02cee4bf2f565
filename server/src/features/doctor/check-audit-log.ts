import type { Pool } from 'pg';

import { verifyNewestEntries } from '../audit/verify-chain.ts';

import { failure, type Finding, ok } from './finding.ts';

/** Takes some 20 ms. */
const ENTRIES = 1_000;

/** Checks the hashes of the newest entries of the audit log. */
export async function checkAuditLog(pool: Pool): Promise<Finding> {
  const check = 'audit log';
  const { verified, problem } = await verifyNewestEntries({ pool }, ENTRIES);
  if (problem === null) return ok(check, `Newest entries, all unchanged: ${verified}.`);
  return failure(check, {
    code: 'audit_log.broken',
    symptom: 'Entries of the audit log were changed or removed.',
    cause: problem.message,
    fix: 'Find out who wrote to the database, and compare it with a backup. latchkey audit verify checks all entries.',
    facts: { sequence: problem.sequence },
  });
}
