/** Payment events that have no effect, that cannot be read, that wait for a retry, and that are old. */
import { removeEventBodies } from '#server/features/billing/queries/events.ts';
import { recordFailure, storeFailedEvent } from '#server/features/billing/failed-events.ts';
import { deleteInBatches } from '#server/db/delete-in-batches.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';

import type { Sale, ShopEvent } from '../payments/sale.ts';
import { SHOPS } from '../payments/shops.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, runAt } from '../time.ts';
import { createPerson } from '../world/people.ts';
import { PLANS } from '../world/plans.ts';
import { readEvent, receiveEvents } from './payments.ts';
import type { Action, World } from './world.ts';

const BATCH_ROWS = 1_000;

function inventSale(world: World, provider: Sale['provider'], number: number, atMs: number): Sale {
  const random = world.random.fork(`odd sale ${number}`);
  const { name, email, locale } = createPerson(random, 95_000 + number);
  return {
    provider,
    plan: PLANS.home,
    quantity: 1,
    at: new Date(atMs),
    buyer: { name, email, locale },
    token: random.symbols(24),
    number: 95_000 + number,
  };
}

/** Events that are stored, but change no license. */
export function listIgnoredPayments(world: World): Action[] {
  const count = Math.round(world.plans.sales.length / 40) + 4;
  return Array.from({ length: count }, (_, number): Action => {
    const random = world.random.fork(`ignored ${number}`);
    const atMs = Math.floor(world.nowMs - HOUR_MS - random.next() * 300 * DAY_MS);
    const sale = inventSale(world, random.pick(['paddle', 'stripe']), 400 + number, atMs);
    const event = number % 9 === 0 ? sellOther(sale) : describeNothing(sale);
    return { atMs, run: () => receiveEvents(world, event) };
  });
}

/** The vendor also sells a printed handbook, which the catalogue does not know. */
function sellOther(sale: Sale): readonly ShopEvent[] {
  const prices = { ...sale.plan.prices, paddle: 'pri_01k2m7handbook00000000demo' };
  const plan = { ...sale.plan, name: 'The Contour handbook', prices };
  return SHOPS.paddle.purchase({ ...sale, provider: 'paddle', plan });
}

function describeNothing({ at, provider, token }: Sale): readonly ShopEvent[] {
  const created = Math.floor(at.getTime() / 1000);
  const occurred = at.toISOString();
  const body =
    provider === 'stripe'
      ? {
          id: `evt_1Q${token}`,
          object: 'event',
          type: 'payment_method.attached',
          created,
          data: { object: { id: `pm_1Q${token}`, object: 'payment_method', type: 'card' } },
        }
      : {
          event_id: `evt_01${token}`,
          event_type: 'transaction.ready',
          occurred_at: occurred,
          data: { id: `txn_01${token}`, status: 'ready' },
        };
  return [{ provider, at, body, headers: {} }];
}

/** Events of the vendor's own shop after a wrong release, and one of Paddle. */
export function listFailedPayments(world: World): Action[] {
  const broken = [2.1, 2.4, 2.6, 11.2].map((daysAgo, number): Action => {
    const atMs = world.nowMs - daysAgo * DAY_MS;
    const sale = inventSale(world, 'standard', 800 + number, atMs);
    const [event] = SHOPS.standard.purchase(sale);
    const body = { ...event?.body, data: { total: 5_900, lines: [{ price_id: 'home-once' }] } };
    const events = event === undefined ? [] : [{ ...event, body }];
    return { atMs, run: () => receiveEvents(world, events) };
  });
  return [...broken, ...listUnreadable(world)];
}

function listUnreadable(world: World): Action[] {
  const atMs = world.nowMs - 4.7 * DAY_MS;
  const sale = inventSale(world, 'paddle', 830, atMs);
  const events = SHOPS.paddle.purchase(sale).map((event) => ({
    ...event,
    body: { ...event.body, data: { id: null } },
  }));
  return [{ atMs, run: () => receiveEvents(world, events) }];
}

/** Purchases of the last hours that the database could not apply yet. */
export async function deferPayments(world: World): Promise<void> {
  const { context, nowMs } = world;
  for (const [number, provider] of (['stripe', 'lemonsqueezy', 'paddle'] as const).entries()) {
    const atMs = nowMs - (95 + number * 17) * MINUTE_MS;
    const [event] = SHOPS[provider]
      .purchase(inventSale(world, provider, 860 + number, atMs))
      .slice(-1);
    if (event === undefined) continue;
    const stored = readEvent(event);
    const cause = new Error('canceling statement due to lock timeout');
    await runAt(atMs, () => storeFailedEvent(context, stored, cause));
    const last = new Date(nowMs - 20 * MINUTE_MS);
    await inTransaction(context.pool, (client) => recordFailure(client, stored, 9, cause, last));
  }
}

/** Removes the bodies of old events: a service that ran all the time has done so. */
export async function removeOldBodies({ context, nowMs }: World): Promise<void> {
  const { pool, config } = context;
  const before = new Date(nowMs - config.billing.rawKeepDays * DAY_MS);
  const { signal } = new AbortController();
  await deleteInBatches(signal, BATCH_ROWS, (limit) =>
    removeEventBodies(pool, before, new Date(nowMs), limit),
  );
}

/** Jobs that exhausted their retries. */
export async function failJobs({ context, nowMs, random }: World): Promise<void> {
  const customers = [1, 2].map((number) => `ctm_01${random.fork(`lost ${number}`).symbols(24)}`);
  await addJobs(
    context.pool,
    customers.map((customerId) => ({
      name: 'look_up_customer' as const,
      payload: { provider: 'paddle', customerId },
      key: `paddle:${customerId}`,
    })),
  );
  await context.pool.query(
    `update jobs set attempts = max_attempts, created_at = $2, run_at = $3, last_error = $4
     where name = 'look_up_customer' and payload ->> 'customerId' = any($1)`,
    [
      customers,
      new Date(nowMs - 6.2 * DAY_MS),
      new Date(nowMs - 3.9 * DAY_MS),
      'Paddle answered 403: the API key lacks the permission customer.read',
    ],
  );
}
