import { parseEmail } from '@latchkey/contract';

import type { Context } from '#server/context.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { rewriteAddresses } from '../suppressions/stored-addresses.ts';
import { rewriteUsage } from '../usage/machine-key.ts';
import { listKnownAddresses, listKnownMachineIds } from './queries.ts';
import {
  rewriteLicenses,
  type RewriteResult,
  rewriteEndpoints,
  rewriteSigningKeys,
} from './rewrite.ts';

type RotationContext = Pick<Context, 'catalog' | 'clock' | 'pool' | 'vault'>;

/** What a rotation rewrote, by kind. */
export interface RotationResult {
  readonly licenses: RewriteResult;
  readonly signingKeys: RewriteResult;
  readonly webhookSecrets: RewriteResult;
  /** Subscribers and suppressions whose address is stored somewhere. */
  readonly addresses: number;
  /** Days of use and machines whose id an activation holds. */
  readonly usage: number;
}

/**
 * Rewrites everything that can be rewritten without its owner under the current master secret. Every batch is one
 * transaction and finds for itself what is left, so that it may be killed and run again, also while the service serves.
 * @param actor for the audit log
 * @param report called with the number of rows done so far
 */
export async function rotateMasterSecret(
  ctx: RotationContext,
  actor: string,
  report: (done: number) => void,
): Promise<RotationResult> {
  const signingKeys = await rewriteSigningKeys(ctx);
  const webhookSecrets = await rewriteEndpoints(ctx);
  const licenses = await rewriteLicenses(ctx, report);
  const rewriteAll = (emails: readonly string[]) => rewriteAddresses(ctx, emails.filter(isAddress));
  const addresses = await inPages(ctx, listKnownAddresses, rewriteAll, (done) =>
    report(licenses.rewritten + done),
  );
  const usage = await inPages(
    ctx,
    listKnownMachineIds,
    (ids) => rewriteUsage(ctx, ids),
    (done) => report(licenses.rewritten + addresses + done),
  );
  await insertAuditEntry(ctx.pool, {
    occurredAt: ctx.clock.now(),
    actor,
    action: 'secret.rotate',
    subjectId: ctx.vault.secretId,
    reason: null,
    details: { licenses: licenses.rewritten, addresses, usage },
  });
  return { licenses, signingKeys, webhookSecrets, addresses, usage };
}

const PAGE_SIZE = 500;

async function inPages(
  { pool }: RotationContext,
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

/** A payment provider's customer may have what is no address to us. */
function isAddress(text: string): boolean {
  return 'email' in parseEmail(text);
}
