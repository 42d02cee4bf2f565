/** Feature: rewrite stored rows from previous master secrets to the current one. */
import { parseEmail } from '@latchkey/contract';

import { insertAuditEntry } from '../audit/queries.ts';
import { rewritePoolKeys } from '../licenses/key-pool.ts';
import { rewriteAddresses } from '../suppressions/stored-addresses.ts';
import { rewriteUsage } from '../usage/machine-key.ts';
import { listKnownAddresses, listKnownMachineIds } from './queries.ts';
import {
  rewriteAddedKeys,
  rewriteLicenses,
  type RewriteDependencies,
  type RewriteResult,
  rewriteEndpoints,
  rewriteSigningKeys,
  rewriteTotpSecrets,
} from './rewrite.ts';

/** The counts of a rotation, by type of row. */
export interface RotationResult {
  /** Their keys, those that imports added, and the free keys of pools. */
  readonly licenses: RewriteResult;
  readonly signingKeys: RewriteResult;
  readonly webhookSecrets: RewriteResult;
  readonly operatorTotp: RewriteResult;
  /** Subscribers and suppressions whose address is stored in plain text. */
  readonly addresses: number;
  /** Days of use and machines whose id is stored with an activation. */
  readonly usage: number;
}

/**
 * Rewrites all rows under the current master secret that can be rewritten without their owner. Each batch is one transaction
 * and reads the remaining rows itself, so that a rotation can be interrupted and repeated, also while the service runs.
 * @param actor for the audit log
 * @param report called with the number of rewritten rows
 */
export async function rotateMasterSecret(
  deps: RewriteDependencies,
  actor: string,
  report: (done: number) => void,
): Promise<RotationResult> {
  const signingKeys = await rewriteSigningKeys(deps);
  const webhookSecrets = await rewriteEndpoints(deps);
  const operatorTotp = await rewriteTotpSecrets(deps);
  const sold = await rewriteLicenses(deps, report);
  const added = await rewriteAddedKeys(deps);
  const pooled = await rewritePoolKeys(deps);
  const licenses = {
    rewritten: sold.rewritten + added.rewritten + pooled.rewritten,
    failed: sold.failed + added.failed + pooled.failed,
  };
  const rewriteAll = (emails: readonly string[]) =>
    rewriteAddresses(deps, emails.filter(isAddress));
  const addresses = await rewriteInPages(deps, listKnownAddresses, rewriteAll, (done) =>
    report(licenses.rewritten + done),
  );
  const usage = await rewriteInPages(
    deps,
    listKnownMachineIds,
    (ids) => rewriteUsage(deps, ids),
    (done) => report(licenses.rewritten + addresses + done),
  );
  await insertAuditEntry(deps.pool, {
    occurredAt: deps.clock.now(),
    actor,
    action: 'secret.rotate',
    subjectId: deps.vault.secretId,
    reason: null,
    details: { licenses: licenses.rewritten, addresses, usage },
  });
  return { licenses, signingKeys, webhookSecrets, operatorTotp, addresses, usage };
}

const PAGE_SIZE = 500;

async function rewriteInPages(
  { pool }: RewriteDependencies,
  list: typeof listKnownAddresses,
  rewrite: (page: readonly string[]) => Promise<number>,
  report: (done: number) => void,
): Promise<number> {
  let after = '';
  let done = 0;
  for (;;) {
    const page = await list(pool, after, PAGE_SIZE);
    const last = page.at(-1);
    if (last === undefined) return done;
    after = last;
    done += await rewrite(page);
    report(done);
  }
}

/** A payment provider's customer may have an address that is invalid here. */
function isAddress(text: string): boolean {
  return 'email' in parseEmail(text);
}
