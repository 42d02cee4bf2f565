import type { Pool } from 'pg';

import { systemClock } from '#server/clock.ts';
import { parseCatalog } from '#server/config/catalog.ts';
import { startEmbeddedPostgres } from '#server/db/embedded/start.ts';
import { migrate } from '#server/db/migrate.ts';
import { createPool } from '#server/db/pool.ts';
import { reportRevenue } from '#server/features/billing/report-revenue.ts';
import { backfillRevenue, restartRevenue } from '#server/features/billing/roll-up-revenue.ts';
import { createLog } from '#server/log.ts';

import { printProgress, type Measurement } from '../lib/report.ts';

/** How many payments, and how many reports of each kind. */
export interface RevenueScale {
  readonly payments: number;
  readonly rounds: number;
}

const SLOWEST_REPORT_MS = 100;

/** Half of the payments are of subscriptions, each with this many. */
const RENEWALS = 12;

const PRODUCTS = ['solo', 'team', 'studio', 'plugin', 'course', 'fonts'] as const;

const CATALOG = `
key_prefix: LK
trial: { product: solo }
products:
${PRODUCTS.map(
  (id) => `  - id: ${id}
    name: ${id}
    tier: ${id}
    max_activations: 2
    prices: { paddle: [pri_${id}], stripe: [price_${id}], standard: [${id}] }`,
).join('\n')}
`;

/** The parts of a row that do not depend on the kind of payment; \`n\` is its number, \`buyer\` that of its buyer. */
const PARTS = `
  cross join lateral (
    select (array['paddle', 'stripe', 'standard'])[1 + buyer % 3] as provider,
           (array['solo', 'team', 'studio', 'plugin', 'course', 'fonts'])[1 + buyer % 6] as product,
           (array['DE','US','GB','FR','NL','CH','AT','SE','NO','DK','FI','ES','IT','PT','PL','CZ','JP','AU','NZ','CA',
                  'BR','MX','AR','IN','SG','KR','IE','BE','LU','HU','RO','BG','GR','HR','SI','SK','EE','LV','LT','IL'])
             [1 + buyer % 40] as country,
           (array['EUR', 'USD', 'GBP'])[1 + buyer / 7 % 3] as currency,
           2900 + buyer % 40 * 100 as total, md5('t' || n) as id
  ) as part
  cross join lateral (
    select (case provider when 'paddle' then 'pri_' when 'stripe' then 'price_' else '' end) || product as price
  ) as priced`;

const writeFact = (more: string): string => `jsonb_build_object(
    'kind', 'payment', 'occurredAt', to_jsonb(at), 'transactionId', 'txn_' || id, 'customerId', 'c' || buyer,
    'customer', '{"email": null, "name": null, "locale": null}'::jsonb, 'total', total, 'tax', total * 19 / 119,
    'currency', currency, 'country', country, ${more})`;

/** One-time purchases of the last three years. */
const INSERT_ONCE = `
  insert into billing_payments (transaction_id, provider, event_id, subscription_id, customer_id, occurred_at, fact)
  select 'txn_' || id, provider, 'evt_' || id, null, 'c' || buyer, at, ${writeFact(`
    'subscriptionId', null, 'origin', 'purchase', 'period', null,
    'lines', jsonb_build_array(jsonb_build_object('lineId', 'li_' || id, 'priceId', price, 'quantity', 1, 'cycle', null, 'total', total))`)}
  from generate_series($1::int, $2::int) as number
  cross join lateral (select number as buyer, number as n, now() - number * (interval '3 years' / $3::int) as at) as bought ${PARTS}`;

/** Monthly subscriptions that began in the last three years; the rest of their renewals is in the future of none. */
const INSERT_RECURRING = `
  insert into billing_payments (transaction_id, provider, event_id, subscription_id, customer_id, occurred_at, fact)
  select 'txn_' || id, provider, 'evt_' || id, 'sub_' || buyer, 'c' || buyer, at, ${writeFact(`
    'subscriptionId', 'sub_' || buyer, 'origin', case when month = 0 then 'purchase' else 'renewal' end,
    'period', jsonb_build_object('startsAt', to_jsonb(at), 'endsAt', to_jsonb(at + interval '1 month')),
    'lines', jsonb_build_array(jsonb_build_object('lineId', 'li_' || buyer, 'priceId', price, 'quantity', 1,
                                                  'cycle', '{"interval": "month", "frequency": 1}'::jsonb, 'total', total))`)}
  from generate_series($1::int, $2::int) as subscriber
  cross join generate_series(0, ${RENEWALS - 1}) as month
  cross join lateral (
    select subscriber as buyer, 10000000 + subscriber * ${RENEWALS} + month as n,
           now() - interval '1 year' - subscriber * (interval '2 years' / $3::int) + month * interval '1 month' as at
  ) as paid ${PARTS}`;

/** Refunds of a fiftieth of the one-time payments, a week later. */
const INSERT_REFUNDS = `
  insert into billing_adjustments (transaction_id, adjustment_id, provider, event_id, occurred_at, fact)
  select transaction_id, 'adj_' || transaction_id, provider, 'evt_r' || transaction_id, occurred_at + interval '7 days',
         jsonb_build_object('kind', 'adjustment', 'occurredAt', to_jsonb(occurred_at + interval '7 days'), 'adjustmentId', 'adj_' || transaction_id,
                            'transactionId', transaction_id, 'effect', 'refund', 'status', 'approved', 'full', true,
                            'total', fact -> 'total', 'currency', fact -> 'currency', 'lines', '[]'::jsonb)
  from billing_payments where subscription_id is null and hashtext(transaction_id) % 50 = 0`;

/**
 * Stores payments in bulk, measures how long it takes to count them into the roll-ups, and each report. Uses a separate
 * database.
 */
export async function measureRevenue(
  directory: string,
  scale: RevenueScale,
): Promise<Measurement[]> {
  const log = createLog({ level: 'warn' });
  const database = await startEmbeddedPostgres({ dataDirectory: directory, log });
  const pool = createPool(database.connection, { maxConnections: 2, log });
  try {
    await migrate(pool);
    const stored = await fill(pool, scale.payments);
    const seconds = await count(pool, stored);
    const { rows } = await pool.query<{ months: string; days: string }>(
      'select (select count(*) from billing_revenue_months) as months, (select count(*) from billing_revenue_days) as days',
    );
    return [
      { name: `counting ${stored} payments`, value: seconds, unit: 's' },
      { name: 'rows by month', value: Number(rows[0]?.months), unit: '' },
      { name: 'rows by day', value: Number(rows[0]?.days), unit: '' },
      ...(await timeReports(pool, scale.rounds)),
    ];
  } finally {
    await pool.end();
    await database.stop();
  }
}

const BATCH = 50_000;

async function fill(pool: Pool, payments: number): Promise<number> {
  const once = Math.ceil(payments / 2);
  const subscribers = Math.ceil((payments - once) / RENEWALS);
  await inBatches(once, BATCH, (from, to) => pool.query(INSERT_ONCE, [from, to, once]));
  await inBatches(subscribers, BATCH / 10, (from, to) =>
    pool.query(INSERT_RECURRING, [from, to, subscribers]),
  );
  await pool.query(INSERT_REFUNDS);
  await pool.query('vacuum analyze');
  await pool.query('checkpoint');
  return once + subscribers * RENEWALS;
}

async function inBatches(
  total: number,
  size: number,
  insert: (from: number, to: number) => Promise<unknown>,
): Promise<void> {
  for (let from = 1; from <= total; from += size) {
    await insert(from, Math.min(from + size - 1, total));
    printProgress(`stored ${Math.min(from + size - 1, total)} of ${total}`);
  }
}

/** Counts all payments as the service does after an upgrade. @returns seconds */
async function count(pool: Pool, payments: number): Promise<number> {
  const catalog = parseCatalog(CATALOG, 'bench');
  const deps = { pool, clock: systemClock, catalog: () => catalog };
  await restartRevenue(deps, { actor: 'bench', reason: 'bench' });
  const begun = performance.now();
  await backfillRevenue(deps, {
    onProgress: (counted) => {
      if (counted % 20_000 === 0) {
        printProgress(
          `counted ${counted} of ${payments}, ${((performance.now() - begun) / 1_000).toFixed(0)} s`,
        );
      }
    },
  });
  return (performance.now() - begun) / 1_000;
}

const DIMENSIONS = [
  'month',
  'product',
  'country',
  'provider',
  'month,product,country,provider',
] as const;

async function timeReports(pool: Pool, rounds: number): Promise<Measurement[]> {
  await pool.query('vacuum analyze billing_revenue_months, billing_revenue_days');
  const measurements: Measurement[] = [];
  for (const by of DIMENSIONS) {
    for (const [months, range] of [
      ['12 months', {}],
      ['all months', { from: '2000-01' }],
    ] as const) {
      const times: number[] = [];
      let shown = 0;
      for (let round = 0; round < rounds; round += 1) {
        const begun = performance.now();
        const { rows } = await reportRevenue({ pool, clock: systemClock }, { by, ...range });
        times.push(performance.now() - begun);
        shown = rows.length;
      }
      const name = `report by ${by}, ${months} (${shown} rows)`;
      const sorted = times.toSorted((a, b) => a - b);
      const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
      const goal = { atMost: SLOWEST_REPORT_MS };
      measurements.push(
        { name: `${name}, p50`, value: at(0.5), unit: 'ms' },
        { name: `${name}, p99`, value: at(0.99), unit: 'ms', goal },
      );
    }
  }
  return measurements;
}
