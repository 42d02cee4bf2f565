import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { lockBilling } from './queries/ledger.ts';
import {
  deleteEvents,
  deleteLicenses,
  deletePurchases,
  deleteTestCustomers,
  listPaymentsOf,
  listTestEvents,
  listTestLicenses,
} from './queries/test-data.ts';

/** In rows: payment providers wait for each transaction. */
const PAGE_SIZE = 500;

/** How much was deleted. */
export interface DeletedTestData {
  readonly events: number;
  readonly licenses: number;
}

/**
 * Deletes everything that the test modes of payment providers created: events, payments, customers, and licenses with their
 * machines. Writes an audit entry. Programs with a deleted license are answered as with an unknown key.
 */
export async function deleteTestData(
  deps: { readonly pool: Pool; readonly clock: Clock },
  { actor, reason }: { readonly actor: string; readonly reason: string },
): Promise<DeletedTestData> {
  const licenses = await deletePages(() => deleteTestLicenses(deps.pool));
  const events = await deletePages(() => deleteTestEvents(deps.pool));
  await deleteTestCustomers(deps.pool);
  await insertAuditEntry(deps.pool, {
    occurredAt: deps.clock.now(),
    actor,
    reason,
    action: 'webhook.delete_test_data',
    subjectId: 'webhooks',
    details: { events, licenses },
  });
  return { events, licenses };
}

async function deletePages(deletePage: () => Promise<number>): Promise<number> {
  let deleted = 0;
  for (let last = PAGE_SIZE; last === PAGE_SIZE; deleted += last) last = await deletePage();
  return deleted;
}

/** Deletes a page of licenses, and returns their number. */
function deleteTestLicenses(pool: Pool): Promise<number> {
  return inTransaction(pool, async (client) => {
    await lockBilling(client);
    const ids = await listTestLicenses(client, PAGE_SIZE);
    if (ids.length > 0) await deleteLicenses(client, ids);
    return ids.length;
  });
}

/** Deletes a page of events with their payments, and returns their number. */
function deleteTestEvents(pool: Pool): Promise<number> {
  return inTransaction(pool, async (client) => {
    await lockBilling(client);
    const events = await listTestEvents(client, PAGE_SIZE);
    if (events.length === 0) return 0;
    await deletePurchases(client, await listPaymentsOf(client, events));
    await deleteEvents(client, events);
    return events.length;
  });
}
