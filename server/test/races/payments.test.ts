import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import type { BillingEvent, BillingFact } from '#server/features/billing/facts.ts';
import { isBillingLockTimeout } from '#server/features/billing/queries/ledger.ts';
import { toEvents, type ExpectedLicense } from '#server/features/billing/rules/facts.fixture.ts';
import { scenarios } from '#server/features/billing/rules/scenarios.fixture.ts';

import { startTestService, type TestService } from '../harness.ts';
import { permute } from '../permute.ts';
import { roundRobin } from './concurrency.ts';

const one = await startTestService();
const two = await startTestService({ beside: one });
const pick = roundRobin<TestService>([one, two]);

/**
 * Scenarios with at most this number of facts are tested in every order; `compute-licenses.test.ts` tests all of them
 * so without a database.
 */
const MAX_EVENTS_IN_EVERY_ORDER = 5;

const CONCURRENT_ORDERS = 30;

/** Random orders of each scenario, with duplicates, half of them concurrent. */
const RANDOM_ORDERS = 8;

let copies = 0;

/** Copies the facts for another purchase: every id gets a suffix. */
function copyScenario(facts: readonly BillingFact[]): { suffix: string; events: BillingEvent[] } {
  const suffix = `~${(copies += 1)}~`;
  const copied = facts.map((fact) => {
    const ids = Object.entries(fact).flatMap(([name, value]) =>
      name.endsWith('Id') && typeof value === 'string' ? [[name, value + suffix]] : [],
    );
    const aliases =
      fact.kind === 'payment' && fact.aliases !== undefined
        ? { aliases: fact.aliases.map((alias) => alias + suffix) }
        : {};
    return { ...fact, ...Object.fromEntries(ids), ...aliases };
  });
  return { suffix, events: toEvents(copied, `evt${suffix}`) };
}

/** On a busy machine a batch waits for the lock of billing longer than the service lets it; a provider delivers again then. */
const ATTEMPTS = 20;

async function deliver(event: BillingEvent, index: number): Promise<string> {
  const delivery = { receivedAt: event.occurredAt, raw: Buffer.from('{}'), headers: {} };
  const { paymentEvents } = pick(index).context.batches;
  for (let attempt = 1; ; attempt++) {
    try {
      const { status } = await paymentEvents.submit({ ...event, ...delivery });
      return status;
    } catch (error) {
      if (!isBillingLockTimeout(error) || attempt === ATTEMPTS) throw error;
    }
  }
}

interface LicenseRow {
  readonly line_key: string;
  readonly product_id: string;
  readonly max_activations: number;
  readonly expires_at: Date | null;
  readonly cancel_scheduled_for: Date | null;
  readonly canceled_at: Date | null;
  readonly paused_at: Date | null;
  readonly disputed_at: Date | null;
  readonly refunded_at: Date | null;
}

async function readLicenses(suffix: string): Promise<ExpectedLicense[]> {
  const { rows } = await one.pool.query<LicenseRow>(
    `select b.line_key, l.* from billing_licenses b join licenses l on l.id = b.license_id
     where b.transaction_id like '%' || $1 order by b.line_key`,
    [suffix],
  );
  return rows.map((row) => ({
    lineKey: row.line_key,
    productId: row.product_id,
    machines: row.max_activations,
    expiresAt: row.expires_at,
    ...(row.cancel_scheduled_for && { cancelScheduledFor: row.cancel_scheduled_for }),
    ...(row.canceled_at && { canceledAt: row.canceled_at }),
    ...(row.paused_at && { pausedAt: row.paused_at }),
    ...(row.disputed_at && { disputedAt: row.disputed_at }),
    ...(row.refunded_at && { refundedAt: row.refunded_at }),
  }));
}

/** All permutations of the events, each followed by duplicates of all of them; none for longer scenarios. */
function listOrders(length: number): number[][] {
  if (length > MAX_EVENTS_IN_EVERY_ORDER) return [];
  const orders = permute(Array.from({ length }, (_, index) => index));
  return Array.from(orders, (order) => [...order, ...order]);
}

/** Random orders of events, each delivered twice. */
function anyOrder(length: number) {
  const all = Array.from({ length }, (_, index) => index);
  return fc.shuffledSubarray([...all, ...all], { minLength: length * 2, maxLength: length * 2 });
}

describe('facts in any order, delivered twice to two processes, lead to the same licenses', () => {
  for (const { name, facts, expected } of scenarios) {
    const check = async (order: readonly number[], isConcurrent: boolean): Promise<void> => {
      const { suffix, events } = copyScenario(facts);
      const ordered = order.flatMap((index) => events[index] ?? []);
      const statuses: string[] = [];
      if (isConcurrent) statuses.push(...(await Promise.all(ordered.map(deliver))));
      else for (const [at, event] of ordered.entries()) statuses.push(await deliver(event, at));
      const context = `order ${order.join(' ')}`;
      const duplicates = statuses.filter((status) => status === 'duplicate').length;
      assert.equal(duplicates, facts.length, context);
      assert.deepEqual(await readLicenses(suffix), expected, context);
    };

    test(name, async () => {
      const orders = listOrders(facts.length);
      // Purchases are independent of each other, so that those of several orders share batches.
      for (let start = 0; start < orders.length; start += CONCURRENT_ORDERS) {
        const some = orders.slice(start, start + CONCURRENT_ORDERS);
        await Promise.all(some.map((order) => check(order, false)));
      }
      const property = fc.asyncProperty(anyOrder(facts.length), fc.boolean(), check);
      await fc.assert(property, { numRuns: RANDOM_ORDERS });
    });
  }
});

test('one purchase delivered 50 times concurrently creates one license, one key and one event', async () => {
  const [scenario] = scenarios;
  const { suffix, events } = copyScenario(scenario?.facts ?? []);
  const statuses = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      Promise.all(events.map((event) => deliver(event, index))),
    ),
  );
  assert.equal(statuses.flat().filter((status) => status === 'processed').length, 1);
  assert.equal((await readLicenses(suffix)).length, 1);
});

test('500 concurrent purchases create 500 licenses, each found by its checkout', async () => {
  const [scenario] = scenarios;
  const purchases = Array.from({ length: 500 }, () => copyScenario(scenario?.facts ?? []));
  const before = await one.count('licenses');
  await Promise.all(purchases.flatMap(({ events }) => events).map(deliver));
  assert.equal((await one.count('licenses')) - before, 500);
  for (const { suffix } of purchases.slice(0, 5)) {
    const answer = await one.get(`/api/v1/licenses/check/txn_1${suffix}`);
    assert.match(answer.text, /"status":"active"/);
  }
});
