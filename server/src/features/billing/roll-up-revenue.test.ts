import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { PaymentSource } from '@latchkey/contract';
import * as fc from 'fast-check';

import { startTestService } from '../../../test/harness.ts';
import { applyEvents } from './apply-events.ts';
import { parseStoredFact, type BillingFact } from './facts.ts';
import { insertRevenueDue, takeRevenueDue } from './queries/revenue-due.ts';
import { groupPurchases, type LedgerEntry } from './rules/group-purchases.ts';
import {
  adjustment,
  began,
  checkout,
  line,
  month,
  monthly,
  payment,
  PRICES,
  renewal,
  snapshot,
  toEvents,
} from './rules/facts.fixture.ts';
import { computeRevenue } from './rules/revenue/compute-revenue.ts';
import { addEntries, MEASURES, type RevenueSum } from './rules/revenue/measures.ts';
import { reportRevenue } from './report-revenue.ts';
import { backfillRevenue, restartRevenue, rollUpDueRevenue } from './roll-up-revenue.ts';

const service = await startTestService();
const { context, pool } = service;

const EUR = { currency: 'EUR', tax: 160, country: 'DE' } as const;

/** What a purchase of a shop may report: also a change, refunds, disputes, and one of another currency. */
const FACTS: readonly BillingFact[] = [
  payment({ transactionId: 'txn_once', ...EUR, fee: 50 }),
  payment({
    transactionId: 'txn_cart',
    lines: [
      monthly(PRICES.sellers, { cycle: null, total: 333 }),
      { ...monthly(PRICES.personal), cycle: null, total: 667 },
    ],
    ...EUR,
  }),
  adjustment({
    transactionId: 'txn_cart',
    adjustmentId: 'adj_cart',
    full: false,
    total: 401,
    currency: 'EUR',
  }),
  adjustment({
    transactionId: 'txn_cart',
    adjustmentId: 'adj_rest',
    full: true,
    occurredAt: month(4),
  }),
  // The same money twice: what is counted for the invoice is subtracted when the payment arrives.
  payment({ transactionId: 'txn_invoice', origin: 'other', ...EUR }),
  payment({ transactionId: 'txn_paid', checkoutId: 'txn_invoice', ...EUR }),
  checkout({ ...EUR }),
  began(),
  renewal(4, EUR),
  renewal(5, { ...EUR, total: 1_500, lines: [monthly(PRICES.sellers, { total: 1_500 })] }),
  renewal(6, { ...EUR, total: 700 }),
  renewal(8, EUR),
  snapshot(month(8, 10), 'canceled', 8, { canceledAt: month(8, 10) }),
  adjustment({
    transactionId: 'txn_5',
    adjustmentId: 'adj_5',
    occurredAt: month(5, 9),
    full: true,
  }),
  adjustment({
    transactionId: 'txn_6',
    adjustmentId: 'dispute_6',
    effect: 'chargeback',
    full: null,
    total: 700,
    occurredAt: month(6, 20),
  }),
];

let copies = 0;

/** Adds a suffix to every id, so that each run has purchases of its own. */
function copy(facts: readonly BillingFact[]): BillingFact[] {
  const suffix = `~${(copies += 1)}`;
  return facts.map((fact) => {
    const ids = Object.entries(fact).flatMap(([name, value]) =>
      name.endsWith('Id') && typeof value === 'string' ? [[name, `${value}${suffix}`]] : [],
    );
    return { ...fact, ...Object.fromEntries(ids) };
  });
}

async function apply(facts: readonly BillingFact[]): Promise<void> {
  const events = toEvents(facts, `evt_${(copies += 1)}`).map((event) => ({
    ...event,
    receivedAt: event.occurredAt,
    raw: Buffer.from('{}'),
    headers: {},
  }));
  await applyEvents(context, events);
}

type Rows = ReadonlyMap<string, readonly number[]>;

/** Computes the roll-up from all stored facts, slowly. */
async function computeSlowly(): Promise<
  Record<'months' | 'days' | (typeof SUMMARIES)[number], Rows>
> {
  const { rows } = await pool.query<{ provider: 'paddle'; eventId: string; fact: string }>(
    `select provider, event_id as "eventId", fact::text from billing_payments
     union all select provider, event_id, fact::text from billing_subscriptions
     union all select provider, event_id, fact::text from billing_adjustments`,
  );
  const entries: LedgerEntry[] = rows.map((row) => ({ ...row, fact: parseStoredFact(row.fact) }));
  const catalog = context.catalog();
  const revenue = groupPurchases(entries).flatMap((purchase) =>
    computeRevenue(purchase, (priceId) => catalog.findPrice('paddle', priceId)?.id ?? ''),
  );
  const months = new Map<string, RevenueSum>();
  const days = new Map<string, RevenueSum>();
  addEntries(months, revenue, 1, (day) => `${day.slice(0, 7)}-01`);
  addEntries(days, revenue, 1);
  return {
    months: toRows(months, MEASURES),
    days: toRows(days, RECURRING),
    total: summarize([...months.values()], {}),
    product: summarize([...months.values()], { product: true }),
    country: summarize([...months.values()], { country: true }),
  };
}

const SUMMARIES = ['total', 'product', 'country'] as const;

/** Adds sums up without products, countries, or both. */
function summarize(
  sums: readonly RevenueSum[],
  { product = false, country = false }: { readonly product?: boolean; readonly country?: boolean },
): Rows {
  const entries = sums.map(({ key, measures }) => ({
    ...key,
    productId: product ? key.productId : '',
    country: country ? key.country : '',
    transactionId: '',
    measures,
  }));
  const added = new Map<string, RevenueSum>();
  addEntries(added, entries, 1);
  return toRows(added, MEASURES);
}

const RECURRING = MEASURES.slice(8);

function toRows(
  sums: ReadonlyMap<string, RevenueSum>,
  measures: typeof MEASURES | typeof RECURRING,
): Rows {
  const rows = [...sums].map(
    ([name, sum]) => [name, measures.map((measure) => sum.measures[measure])] as const,
  );
  return new Map(rows.filter(([, row]) => row.some((value) => value !== 0)).sort(byName));
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

async function readTable(table: string, time: string, condition = 'true'): Promise<Rows> {
  const { rows } = await pool.query<{ row: Readonly<Record<string, string | number>> }>(
    `select to_jsonb(t) as row from ${table} t where ${condition}`,
  );
  const found = rows.map(({ row: value }) => {
    const key = [
      value['provider'],
      value[time],
      value['product_id'],
      value['country'],
      value['currency'],
    ];
    const measures = table.endsWith('_days') ? RECURRING : MEASURES;
    const numbers = measures.map((measure) =>
      Number(value[measure.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`)]),
    );
    return [JSON.stringify(key), numbers] as const;
  });
  return new Map(found.filter(([, row]) => row.some((each) => each !== 0)).sort(byName));
}

async function readRollUp() {
  return {
    months: await readTable('billing_revenue_months', 'month'),
    days: await readTable('billing_revenue_days', 'day'),
    total: await readSummaries(''),
    product: await readSummaries('product'),
    country: await readSummaries('country'),
  };
}

function readSummaries(dividedBy: string): Promise<Rows> {
  return readTable('billing_revenue_summaries', 'month', `divided_by = '${dividedBy}'`);
}

/** What each payment adds, by which the next change of its purchase is subtracted. */
async function listEntries(): Promise<unknown[]> {
  const { rows } = await pool.query(
    "select provider, transaction_id, entries from billing_revenue where entries <> '[]' order by 1, 2",
  );
  return rows;
}

/** Reports revenue by some dimensions, added up by month. */
async function reportMonths(by: string): Promise<Record<string, number[]>> {
  const clock = { now: () => new Date('2027-12-01T00:00:00Z') };
  const range = { from: '2027-01', to: '2027-12' };
  const { rows, next } = await reportRevenue({ pool, clock }, { by, ...range });
  assert.equal(next, null);
  const months: Record<string, number[]> = {};
  for (const row of rows) {
    const { currency, gross, tax, refunds, disputes, mrr, subscriptions } = row;
    const sum = (months[`${row.month} ${currency}`] ??= [0, 0, 0, 0, 0, 0]);
    for (const [index, each] of [gross, tax, refunds, disputes, mrr, subscriptions].entries())
      sum[index] = (sum[index] ?? 0) + each;
  }
  // Products may differ from zero in a month whose sum is zero.
  return Object.fromEntries(
    Object.entries(months).filter(([, sum]) => sum.some((each) => each !== 0)),
  );
}

/** Counts the payments among facts whose purchase is counted. */
async function countStored(facts: readonly BillingFact[]): Promise<number> {
  const ids = facts.map((fact) => ('transactionId' in fact ? fact.transactionId : null));
  const statement = 'select from billing_revenue where transaction_id = any($1)';
  return (await pool.query(statement, [ids])).rowCount ?? 0;
}

const PAGE = { maxPages: 1, pageSize: 2 };

/** When purchases are counted. */
const STEPS = {
  count: () => rollUpDueRevenue(context),
  page: () => backfillRevenue(context, PAGE),
  restart: () => restartRevenue(context, { actor: 'test', reason: 'test' }),
};

const step = fc.constantFrom(...(['count', 'count', 'page', 'page', 'restart'] as const));

const history = fc
  .subarray([...FACTS], { minLength: 1 })
  .chain((facts) =>
    fc.tuple(fc.shuffledSubarray(facts, { minLength: facts.length }), fc.nat(facts.length)),
  );

describe('the roll-up of revenue', () => {
  test('equals a computation over all facts, whatever their order, batches and repetitions', async () => {
    await fc.assert(
      fc.asyncProperty(history, async ([drawn, cut]) => {
        const facts = copy(drawn);
        await apply(facts.slice(0, cut));
        await rollUpDueRevenue(context);
        await apply(facts.slice(cut));
        await apply(facts.slice(0, 2));
        await rollUpDueRevenue(context);
        assert.deepEqual(await readRollUp(), await computeSlowly());
      }),
      { numRuns: 25 },
    );
  });

  test('that is counted as facts arrive, late and in any order, equals one that is counted from zero', async () => {
    const arrivals = history.chain(([facts]) =>
      fc.tuple(
        fc.constant(facts),
        fc.array(step, { minLength: facts.length, maxLength: facts.length }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(arrivals, async ([drawn, steps]) => {
        for (const [index, fact] of copy(drawn).entries()) {
          await apply([fact]);
          await STEPS[steps[index] ?? 'count']();
        }
        await rollUpDueRevenue(context);
        await backfillRevenue(context, { pageSize: 3 });
        const counted = [await readRollUp(), await listEntries()];
        await STEPS.restart();
        await backfillRevenue(context);
        assert.deepEqual(counted, [await readRollUp(), await listEntries()]);
      }),
      { numRuns: 15 },
    );
    assert.deepEqual(await readRollUp(), await computeSlowly());
  });

  test('reports each month equally, whichever roll-up a report reads', async () => {
    await rollUpDueRevenue(context);
    const reports = [];
    for (const by of ['month', 'month,product', 'month,country', 'month,product,country'])
      reports.push(await reportMonths(by));
    assert.ok(reports.every((each) => Object.keys(each).length > 3));
    for (const each of reports) assert.deepEqual(each, reports[0]);
  });

  test('takes all marks of a subscription at once', async () => {
    await rollUpDueRevenue(context);
    const renewals = copy([renewal(4, EUR), renewal(5, EUR), renewal(6, EUR)]);
    for (const each of renewals) await apply([each]);
    const taken = await takeRevenueDue(pool, 1);
    assert.deepEqual(new Set(taken.map(({ kind }) => kind)), new Set(['subscription']));
    assert.equal(taken.length, renewals.length);
    await insertRevenueDue(pool, taken);
  });

  test('is computed anew with one page for each purchase, not for each payment', async () => {
    await STEPS.restart();
    const progress: number[] = [];
    await backfillRevenue(context, { pageSize: 1, onProgress: (count) => progress.push(count) });
    const { rows } = await pool.query<{ payments: number; purchases: number }>(
      `select count(distinct transaction_id)::integer as payments,
              count(distinct coalesce(subscription_id, transaction_id))::integer as purchases from billing_payments`,
    );
    const [{ payments, purchases } = assert.fail()] = rows;
    assert.equal(progress.at(-1), payments);
    assert.ok(progress.length <= purchases + 4, `${progress.length} pages, ${purchases} purchases`);
  });

  test('is the same after it was deleted and computed again, also while payments arrive', async () => {
    await rollUpDueRevenue(context);
    const before = await readRollUp();
    await restartRevenue(context, { actor: 'test', reason: 'test' });
    assert.equal((await readRollUp()).months.size, 0);
    await apply(copy([FACTS[0] ?? assert.fail()]));
    await rollUpDueRevenue(context);
    const progress: number[] = [];
    assert.ok(await backfillRevenue(context, { onProgress: (counted) => progress.push(counted) }));
    assert.ok((progress.at(-1) ?? 0) > 0);
    const after = await readRollUp();
    assert.deepEqual(after, await computeSlowly());
    assert.ok(before.months.size <= after.months.size);
  });

  describe('with a purchase that cannot be counted', () => {
    const broken = payment({ ...EUR, lines: [line('pri_broken')] });
    const catalog = {
      ...context.catalog(),
      findPrice: (provider: PaymentSource, priceId: string) => {
        if (priceId === 'pri_broken') throw new Error('this price cannot be read');
        return context.catalog().findPrice(provider, priceId);
      },
    };
    const failing = { ...context, catalog: () => catalog };

    async function assertRepaired(bad: readonly BillingFact[]): Promise<void> {
      await rollUpDueRevenue(context);
      assert.equal(await countStored(bad), 0, 'a postponed purchase was counted before it was due');
      await pool.query('update billing_revenue_due set due_at = now()');
      await rollUpDueRevenue(context);
      assert.equal(await countStored(bad), 1);
      assert.deepEqual(await readRollUp(), await computeSlowly());
    }

    test('counts the others, and keeps its mark with its age', async () => {
      const [bad, good] = [copy([broken]), copy([payment(EUR)])];
      await apply([...bad, ...good]);
      assert.equal(await rollUpDueRevenue(failing), 2);
      assert.deepEqual([await countStored(bad), await countStored(good)], [0, 1]);
      const postponed =
        "select from billing_revenue_due where due_at > now() + interval '50 minutes'";
      assert.equal((await pool.query(postponed)).rowCount, 1);
      await assertRepaired(bad);
    });

    test('counts all earlier payments but that one', async () => {
      const [bad, good] = [copy([broken]), copy([payment(EUR)])];
      await apply([...bad, ...good]);
      await STEPS.restart();
      assert.ok(await backfillRevenue(failing, { pageSize: 5 }));
      assert.deepEqual([await countStored(bad), await countStored(good)], [0, 1]);
      await assertRepaired(bad);
    });
  });

  test('does not count the test modes of providers', async () => {
    const [fact] = copy([payment(EUR)]);
    const before = await readRollUp();
    const events = toEvents([fact ?? assert.fail()], 'evt_test').map((event) => ({
      ...event,
      provider: 'paddle:test' as const,
      receivedAt: event.occurredAt,
      raw: Buffer.from('{}'),
      headers: {},
    }));
    await applyEvents(context, events);
    await rollUpDueRevenue(context);
    assert.deepEqual(await readRollUp(), before);
  });
});
