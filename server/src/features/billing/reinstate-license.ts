import { v7 as makeUuid } from 'uuid';

import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { reinstateLicense, type ManualChange } from '../licenses/change-license.ts';
import { listLicensesByIds, type LicenseRecord } from '../licenses/queries/licenses.ts';
import { applyFacts } from './apply-events.ts';
import type { ApplyDependencies } from './dependencies.ts';
import { occurrenceOf, type BillingEvent } from './facts.ts';
import { listUnsentKeyEmailsOfLicense } from '../key-emails/backlog-queries.ts';
import { lockBilling } from './queries/ledger.ts';
import { listPurchaseEntries, listTransactionsOfLicense } from './queries/purchases.ts';
import { queueKeyEmails } from './queue-jobs.ts';
import { groupPurchases, type LedgerEntry, type Purchase } from './rules/group-purchases.ts';
import { listOpenDisputes } from './rules/money-back.ts';

/**
 * Reinstates a license that was suspended, revoked or disputed, and queues its key if that was withheld. A dispute
 * concerns a payment, so all licenses of that payment are reinstated.
 * @throws licenseNotFound
 */
export async function reinstateAndSend(
  deps: ApplyDependencies,
  change: ManualChange,
): Promise<LicenseRecord> {
  const license = await reinstateLicense(deps, change);
  const reinstated = license.disputedAt === null ? license : await closeDisputes(deps, license);
  await queueKeyEmails(deps.pool, await listUnsentKeyEmailsOfLicense(deps.pool, license.id));
  return reinstated;
}

/**
 * Closes the open disputes of the license's purchase, because providers do not always report the end of a dispute, and
 * rarely that of a warning. Inserts a newer fact about each, so that later reports of the provider apply again.
 */
async function closeDisputes(
  deps: ApplyDependencies,
  license: LicenseRecord,
): Promise<LicenseRecord> {
  return inTransaction(deps.pool, async (client) => {
    await lockBilling(client);
    const transactions = await listTransactionsOfLicense(client, license.id);
    const entries = await listPurchaseEntries(client, transactions);
    const closedAt = findLatest(entries, deps.clock.now());
    const events = groupPurchases(entries).map((purchase) => toClosingEvent(purchase, closedAt));
    await applyFacts(deps, client, events);
    return (await findLicense(client, license.id)) ?? license;
  });
}

/** Returns a time after all entries, even if the clock of the provider is ahead. */
function findLatest(entries: readonly LedgerEntry[], now: Date): Date {
  const times = entries.map(({ fact }) => fact.occurredAt.getTime() + 1);
  return new Date(Math.max(now.getTime(), ...times));
}

/** Disputes become `rejected`, because `reversed` would consume a reversal that belongs to another dispute. */
function toClosingEvent({ facts }: Purchase, closedAt: Date): BillingEvent {
  const disputes = listOpenDisputes(facts.payments, facts.adjustments);
  return {
    provider: facts.provider,
    eventId: `manual:${makeUuid()}`,
    type: 'dispute.closed',
    occurredAt: closedAt,
    facts: disputes.map((dispute) => ({
      ...dispute,
      ...occurrenceOf({ occurredAt: closedAt }),
      status: 'rejected',
    })),
    ignoredBecause: null,
  };
}

async function findLicense(client: Queryable, id: string): Promise<LicenseRecord | null> {
  return (await listLicensesByIds(client, [id]))[0] ?? null;
}
