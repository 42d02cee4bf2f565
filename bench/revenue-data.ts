/** A shop of three years in the ledgers of payments, generated in bulk by SQL, the same at each run. */
import type { Pool } from 'pg';

import { printProgress } from './lib/report.ts';

const PRODUCTS = [
  'solo',
  'team',
  'studio',
  'plugin',
  'course',
  'fonts',
  'sounds',
  'archive',
] as const;

/** The catalogue that sells what the generated payments bought. */
export const SHOP_CATALOG = `
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

/** Payments for each buyer, on average: what a subscription has, that began at any time of three years and may have ended. */
const PAYMENTS_OF_A_BUYER = 2.066;

/** A number from 0 to 1 that depends on the buyer. */
const random = (salt: number): string =>
  `((hashint8extended(number, ${salt}) & 1048575) / 1048576.0)`;

/** Countries and currencies, the most frequent first: few buyers are from the last ones. */
const COUNTRIES =
  'US USD,DE EUR,GB GBP,FR EUR,CA CAD,AU AUD,NL EUR,JP JPY,CH CHF,AT EUR,SE SEK,ES EUR,IT EUR,DK DKK,NO NOK,BE EUR,FI EUR,PL PLN,IE EUR,BR USD,IN USD,NZ AUD,CZ EUR,PT EUR,KR USD,MX USD,SG USD,IL USD,GR EUR,HU EUR,RO EUR,AR USD,ZA USD,LU EUR,SK EUR,SI EUR,HR EUR,EE EUR,LV EUR,LT EUR';

/** Of the buyers 82 % buy once, 15 % subscribe by month, 3 % by year; nobody pays in the future. */
const CREATE_BUYERS = `
  create unlogged table bench_buyers with (autovacuum_enabled = off) as
  select number, provider, kind, began, first_product, later_product, changes_after, 'sub_' || number as subscription_id,
         split_part(place, ' ', 1) as country,
         -- A tenth pays in dollars everywhere.
         case when ${random(7)} < 0.1 then 'USD' else split_part(place, ' ', 2) end as currency,
         least(wanted, possible)::integer as payments, wanted < possible as has_ended
  from generate_series(1, $1::int) as number
  cross join lateral (
    select (array['paddle', 'paddle', 'paddle', 'stripe', 'stripe', 'standard'])[1 + floor(6 * ${random(1)})::int] as provider,
           case when ${random(2)} < 0.82 then 'once' when ${random(2)} < 0.97 then 'month' else 'year' end as kind,
           -- The shop grows.
           date_trunc('second', now() - interval '3 years' * (1 - ${random(3)} ^ 0.7)) as began,
           (string_to_array('${COUNTRIES}', ','))[1 + floor(40 * ${random(4)} ^ 2)::int] as place,
           (array['${PRODUCTS.join("','")}'])[1 + floor(8 * ${random(5)} ^ 1.5)::int] as first_product,
           -- A tenth of the subscriptions changes to another product.
           (array['${PRODUCTS.join("','")}'])[1 + floor(80 * ${random(6)})::int] as changed_product,
           2 + floor(6 * ${random(8)})::int as changes_after
  ) as bought
  cross join lateral (
    select coalesce(changed_product, first_product) as later_product,
           case kind when 'once' then 1
                     when 'month' then 1 + floor(-ln(1 - ${random(9)}) * 14)
                     else 1 + floor(-ln(1 - ${random(9)}) * 3) end as wanted,
           case kind when 'once' then 1
                     when 'month' then 1 + floor(extract(epoch from now() - began) / (86400 * 30.44))
                     else 1 + floor(extract(epoch from now() - began) / (86400 * 365.25)) end as possible
  ) as times`;

const CREATE_PAID = `
  create unlogged table bench_paid with (autovacuum_enabled = off) as
  select buyer.*, nth, md5(number || '/' || nth) as id, at, ends_at, product, price, total, total * 19 / 119 as tax
  from bench_buyers as buyer
  cross join lateral generate_series(0, payments - 1) as nth
  cross join lateral (
    select began + nth * pause as at, began + (nth + 1) * pause as ends_at,
           case when nth < changes_after then first_product else later_product end as product
    from (select case kind when 'year' then interval '1 year' else interval '1 month' end as pause) as paused
  ) as paid
  cross join lateral (
    select (case provider when 'paddle' then 'pri_' when 'stripe' then 'price_' else '' end) || product as price,
           case kind when 'month' then 1 when 'year' then 10 else 5 end
             * (900 + 100 * array_position(array['${PRODUCTS.join("','")}'], product)) as total
  ) as priced`;

const CUSTOMER = `'{"email": null, "name": null, "locale": null}'::jsonb`;

const LINE = `jsonb_build_object('lineId', 'li_' || number, 'priceId', price, 'quantity', 1, 'total', total, 'cycle',
  case kind when 'once' then null else jsonb_build_object('interval', kind, 'frequency', 1) end)`;

const PERIOD = `jsonb_build_object('startsAt', to_jsonb(at), 'endsAt', to_jsonb(ends_at))`;

/** In the order of time, as they would have arrived: those of a subscription are far from each other. */
const ONE_MONTH = `from bench_paid where at >= $1::timestamptz and at < $2::timestamptz order by at`;

const INSERT_PAYMENTS = `
  insert into billing_payments (transaction_id, provider, event_id, subscription_id, customer_id, occurred_at, fact)
  select 'txn_' || id, provider, 'evt_' || id, case kind when 'once' then null else subscription_id end, 'c' || number, at,
         jsonb_build_object(
           'kind', 'payment', 'occurredAt', to_jsonb(at), 'transactionId', 'txn_' || id, 'customerId', 'c' || number,
           'customer', ${CUSTOMER}, 'total', total, 'tax', tax, 'fee', 50 + total / 20, 'currency', currency, 'country', country,
           'subscriptionId', case kind when 'once' then null else subscription_id end,
           'origin', case nth when 0 then 'purchase' else 'renewal' end,
           'period', case kind when 'once' then null else ${PERIOD} end, 'lines', jsonb_build_array(${LINE}))
  ${ONE_MONTH}`;

/** Providers report a subscription with each payment. */
const INSERT_SNAPSHOTS = `
  insert into billing_subscriptions (subscription_id, provider, event_id, transaction_id, customer_id, occurred_at, fact)
  select subscription_id, provider, 'evt_s' || id, case nth when 0 then 'txn_' || id end, 'c' || number, at,
         jsonb_build_object(
           'kind', 'subscription', 'occurredAt', to_jsonb(at), 'subscriptionId', subscription_id,
           'transactionId', case nth when 0 then 'txn_' || id end, 'customerId', 'c' || number, 'customer', ${CUSTOMER},
           'status', 'active', 'period', ${PERIOD}, 'pausedAt', null, 'canceledAt', null, 'scheduledChange', null,
           'lines', jsonb_build_array(${LINE}))
  from bench_paid where kind <> 'once' and at >= $1::timestamptz and at < $2::timestamptz order by at`;

const INSERT_CANCELLATIONS = `
  insert into billing_subscriptions (subscription_id, provider, event_id, transaction_id, customer_id, occurred_at, fact)
  select subscription_id, provider, 'evt_c' || id, null, 'c' || number, ends_at,
         jsonb_build_object(
           'kind', 'subscription', 'occurredAt', to_jsonb(ends_at), 'subscriptionId', subscription_id, 'transactionId', null,
           'customerId', 'c' || number, 'customer', ${CUSTOMER}, 'status', 'canceled', 'period', null, 'pausedAt', null,
           'canceledAt', to_jsonb(ends_at), 'scheduledChange', null, 'lines', jsonb_build_array(${LINE}))
  from bench_paid where has_ended and nth = payments - 1`;

/** Of the payments 3 % are refunded, a third of these in part, and 0.3 % disputed. */
const INSERT_ADJUSTMENTS = `
  insert into billing_adjustments (transaction_id, adjustment_id, provider, event_id, occurred_at, fact)
  select 'txn_' || id, 'adj_' || id, provider, 'evt_r' || id, back_at,
         jsonb_build_object(
           'kind', 'adjustment', 'occurredAt', to_jsonb(back_at), 'adjustmentId', 'adj_' || id, 'transactionId', 'txn_' || id,
           'effect', case when part < 30 then 'refund' else 'chargeback' end, 'status', 'approved', 'full', part >= 10,
           'total', case when part < 10 then total / 3 else total end, 'currency', currency, 'lines', '[]'::jsonb)
  from (select *, hashtext(id) & 1023 as part, least(at + interval '7 days', now()) as back_at from bench_paid) as paid
  where part < 33`;

const INSERT_SOLD = `
  with sold as (select *, gen_random_uuid() as license_id from bench_paid where nth = 0),
  billed as (
    insert into billing_licenses (transaction_id, provider, line_key, license_id)
    select 'txn_' || id, provider, 'li_' || number, license_id from sold
  )
  insert into billing_sales (license_id, price_id, product_id, total, currency, sold_at)
  select license_id, price, product, total, currency, at from sold`;

const MONTHS = 37;

/** Fills the ledgers with about as many payments. @returns how many exactly */
export async function fillShop(pool: Pool, payments: number): Promise<number> {
  await pool.query(CREATE_BUYERS, [Math.ceil(payments / PAYMENTS_OF_A_BUYER)]);
  await pool.query(CREATE_PAID);
  await pool.query('create index on bench_paid (at)');
  await pool.query('analyze bench_paid');
  const until = new Date();
  for (let month = MONTHS; month > 0; month -= 1) {
    const range = [monthsBefore(until, month), monthsBefore(until, month - 1)];
    await pool.query(INSERT_PAYMENTS, range);
    await pool.query(INSERT_SNAPSHOTS, range);
    printProgress(`stored the payments until ${range[1]?.toISOString().slice(0, 7)}`);
  }
  for (const insert of [INSERT_CANCELLATIONS, INSERT_ADJUSTMENTS, INSERT_SOLD]) {
    await pool.query(insert);
  }
  await pool.query('drop table bench_paid, bench_buyers');
  await pool.query('vacuum analyze');
  await pool.query('checkpoint');
  const { rows } = await pool.query<{ stored: string }>(
    'select count(*) as stored from billing_payments',
  );
  return Number(rows[0]?.stored);
}

function monthsBefore(time: Date, count: number): Date {
  const before = new Date(time);
  before.setUTCMonth(before.getUTCMonth() - count);
  return before;
}
