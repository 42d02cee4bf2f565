import { v7 as makeUuid } from 'uuid';

import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { reinstateLicense, type ManualChange } from '../licenses/change-license.ts';
import { listLicensesByIds, type LicenseRecord } from '../licenses/queries/licenses.ts';
import { applyFacts, type ApplyContext } from './apply-events.ts';
import { occurrenceOf, type BillingEvent } from './facts.ts';
import { queueKeyEmails } from './queue-jobs.ts';
import { listUnsentKeyEmailsOfLicense } from './key-emails/resend-queries.ts';
import { lockBilling } from './queries/ledger.ts';
import { listPurchaseEntries, listTransactionsOfLicense } from './queries/purchases.ts';
import { groupPurchases, type LedgerEntry, type Purchase } from './rules/group-purchases.ts';
import { listOpenDisputes } from './rules/money-back.ts';

/**
 * Lets a license run again that was suspended or revoked by hand, or whose payment is in dispute, and has its key sent when
 * that was withheld meanwhile. A dispute is the payment's, so with it all licenses of that payment run again.
 * @throws licenseNotFound
 */
export async function reinstateAndSend(ctx: Context, change: ManualChange): Promise<LicenseRecord> {
  const license = await reinstateLicense(ctx, change);
  const reinstated = license.disputedAt === null ? license : await closeDisputes(ctx, license);
  await queueKeyEmails(ctx.pool, await listUnsentKeyEmailsOfLicense(ctx.pool, license.id));
  return reinstated;
}

/**
 * Takes the open disputes of a license's purchase back: providers do not always say that one is over, of a warning least
 * of all. It is a newer word on each of them, so what the provider says of it afterwards counts again.
 */
async function closeDisputes(ctx: ApplyContext, license: LicenseRecord): Promise<LicenseRecord> {
  return inTransaction(ctx.pool, async (client) => {
    await lockBilling(client);
    const names = await listTransactionsOfLicense(client, license.id);
    const entries = await listPurchaseEntries(client, names);
    const liftedAt = findLatest(entries, ctx.clock.now());
    const lifts = groupPurchases(entries).map((purchase) =>
      describeClosedDisputes(purchase, liftedAt),
    );
    await applyFacts(ctx, client, lifts);
    return (await findLicense(client, license.id)) ?? license;
  });
}

/** Later than everything that was told, also by a provider whose clock is ahead. */
function findLatest(entries: readonly LedgerEntry[], now: Date): Date {
  const told = entries.map(({ fact }) => fact.occurredAt.getTime() + 1);
  return new Date(Math.max(now.getTime(), ...told));
}

/** As if the provider had rejected them: `reversed` would use up a reversal, which may have taken another one back. */
function describeClosedDisputes({ facts }: Purchase, liftedAt: Date): BillingEvent {
  const disputes = listOpenDisputes(facts.payments, facts.adjustments);
  return {
    provider: facts.provider,
    eventId: `by_hand:${makeUuid()}`,
    type: 'dispute.lifted',
    occurredAt: liftedAt,
    facts: disputes.map((dispute) => ({
      ...dispute,
      ...occurrenceOf({ occurredAt: liftedAt }),
      status: 'rejected',
    })),
    ignoredBecause: null,
  };
}

async function findLicense(client: Queryable, id: string): Promise<LicenseRecord | null> {
  return (await listLicensesByIds(client, [id]))[0] ?? null;
}
