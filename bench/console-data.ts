/** Fills a database for the benchmark of the console, in SQL: some minutes for a million licenses and five million events. */
import type { Pool } from 'pg';

import { systemClock } from '#server/clock.ts';
import { readDatabaseTime } from '#server/db/database-time.ts';
import {
  createInstallIndex,
  createPartition,
} from '#server/features/analytics/queries/partitions.ts';
import { runRollups } from '#server/features/analytics/rollups/run-rollups.ts';
import { addDays, dayOf } from '#server/features/analytics/rules/days.ts';

/** How much the database contains. */
export interface ConsoleScale {
  readonly licenses: number;
  readonly events: number;
}

/** Days with events and use, ending today. */
const DAYS = 90;

/**
 * Functions of the fill: a UUIDv7 of a time, with a hash instead of random bits; the time of the n-th of a number of rows within
 * the last three years, the first row being the newest one; and the id of the n-th license, which is the same in all statements.
 */
const createFunctions = (licenses: number, now: Date): string => `
  create function bench_id(at timestamptz, salt text) returns uuid language sql immutable as $$
    select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5(salt), 1, 3)
            || '8' || substr(md5(salt), 4, 15))::uuid
  $$;
  create function bench_time(n int, count int) returns timestamptz language sql immutable as $$
    select '${now.toISOString()}'::timestamptz - n::float8 / count * interval '3 years' - interval '1 minute'
  $$;
  create function bench_license(n int) returns uuid language sql immutable as $$
    select bench_id(bench_time(n, ${licenses}), 'l' || n)
  $$`;

/** A number of rows, each with its number and its time. */
const ROWS = (count: string): string => `
  from (select n, bench_time(n, (${count})::int) as at from generate_series(1, (${count})::int) as n) as row`;

const N = '$1::int';

/** In this order; \`$1\`: the number of licenses. */
const FILLS: Readonly<Record<string, string>> = {
  licenses: `
    insert into licenses (id, product_id, tier, features, max_activations, trial, subscription, expires_at, suspended_at,
                          refunded_at, revoked_at, canceled_at, key_sealed, key_hint, customer_email, customer_name, created_at)
    select bench_license(n), (array['personal', 'sellers'])[1 + n / 10 % 2], (array['personal', 'sellers'])[1 + n / 10 % 2], '{}',
           1 + n % 3, n % 10 = 0, n % 4 = 1, case when n % 10 = 0 then at + interval '7 days' when n % 4 = 1 then at + interval '1 year' end,
           case when n % 211 = 0 then at end, case when n % 101 = 0 then at end, case when n % 307 = 0 then at end,
           case when n % 53 = 0 then at end, '', upper(substr(md5('h' || n), 1, 4)),
           case when n % 10 > 0 then 'user' || n % (${N} * 7 / 10 + 1) || '@example' || n % 997 || '.com' end,
           case when n % 10 > 0 then 'Name ' || n % 9973 || ' Surname ' || n end, at ${ROWS(N)}`,
  keys: `insert into license_keys select sha256(('k' || n)::bytea), bench_license(n) ${ROWS(N)}`,
  checkouts: `
    insert into license_transactions (transaction_id, license_id)
    select 'txn_' || n, bench_license(n) ${ROWS(N)} where n % 10 > 0`,
  activations: `
    insert into activations (license_id, id, machine_id, components, machine_digest, install_id, os_version, app_version,
                             activated_at, last_validated_at, versions_reported_at)
    select bench_license(n), bench_id(at, 'a' || n), 'machine-' || md5('m' || n % (${N} * 9 / 10 + 1)),
           '{"strong": [], "medium": [], "weak": []}', md5('d' || n),
           md5('i' || n % (${N} / 5 + 1))::uuid, 'macOS 15', '2.' || n % 9, at, at + (now() - at) * random(), at ${ROWS(N)} where n % 19 > 0`,
  'machines of licenses': `
    insert into license_activity (license_id, active_machines, is_full, last_seen_at)
    select l.id, machines.active, machines.active >= l.max_activations, machines.seen_at
    from licenses l cross join lateral (
      select count(*) as active, max(last_validated_at) as seen_at from activations where license_id = l.id
    ) as machines`,
  refusals: `
    insert into license_refusals (license_id, day, reason, refusals, last_at)
    select bench_license(n), (now() - n % 30 * interval '1 day')::date,
           (array['license_expired', 'activation_limit_reached', 'machine_mismatch'])[1 + n % 3], 1 + n % 9, now()
    ${ROWS(N)} where n % 17 = 0`,
  'payment events': `
    insert into billing_events (event_id, provider, type, occurred_at, received_at, raw, headers, status, message, next_attempt_at)
    select 'evt_' || n, 'paddle', (array['transaction.completed', 'subscription.updated', 'customer.created'])[1 + n % 3], at, at,
           '{"data":{}}', '{}', case when n % 5000 = 0 then 'failed' when n % 5000 = 1 then 'deferred' when n % 10 = 2 then 'ignored' else 'processed' end,
           case when n % 10 = 2 then 'No license depends on it.' end, case when n % 5000 = 1 then now() end ${ROWS(`${N} / 2`)}`,
  payments: `
    insert into billing_payments (transaction_id, provider, event_id, subscription_id, customer_id, occurred_at, fact)
    select 'txn_' || n, 'paddle', 'evt_' || n, case when n % 4 = 1 then 'sub_' || n end, 'ctm_' || n, at,
           jsonb_build_object('kind', 'payment', 'origin', 'purchase', 'total', 4900) ${ROWS(`${N} / 2`)}`,
  'licenses of payments': `
    insert into billing_licenses (transaction_id, provider, line_key, license_id)
    select 'txn_' || n, 'paddle', 'line', bench_license(n) ${ROWS(N)} where n <= ${N} / 2`,
  buyers: `
    insert into billing_customers (customer_id, provider, occurred_at, email, name)
    select 'ctm_' || n, 'paddle', at, 'user' || n || '@example' || n % 997 || '.com', 'Name ' || n ${ROWS(`${N} / 2`)}`,
  'e-mails with keys': `
    insert into key_emails (transaction_id, provider, state, reason, created_at, claimed_at, sent_at)
    select 'txn_' || n, 'paddle', case when n % 5000 = 0 then 'refused' else 'sent' end, case when n % 5000 = 0 then 'smtp_550' end, at, at, at
    ${ROWS(`${N} / 2`)}`,
  subscribers: `
    insert into subscribers (address_hash, id, email, language, first_subscribed_at, subscribed_at, confirmed_at, opt_in, confirmation_mailed_at)
    select sha256(('s' || n)::bytea), bench_id(at, 's' || n), 'user' || n || '@example' || n % 997 || '.com', (array['en', 'fr', 'de'])[1 + n % 3],
           at, at, case when n % 5 > 0 then at end, case when n % 5 > 0 then 'double' end, case when n % 1000 > 0 then at end ${ROWS(`${N} / 5`)}`,
  suppressions: `
    insert into suppressions (address_hash, reason, suppressed_at)
    select sha256(('s' || n * 10)::bytea), (array['unsubscribed', 'by_hand', 'bounced'])[1 + n % 3], at ${ROWS(`${N} / 50`)}`,
  'webhook endpoints': `
    insert into webhook_endpoints (id, url, secret_sealed, created_at)
    select bench_id(at, 'e' || n), 'https://hooks' || n || '.example.com/', '', at ${ROWS('3')}`,
  'webhook messages': `
    insert into webhook_messages (id, type, license_id, payload, created_at)
    select 'msg_' || n, (array['license.created', 'license.renewed', 'activation.created'])[1 + n % 3], bench_license(n),
           '{"type":"license.created","data":{}}', now() - n::float8 / (${N} / 5 + 1) * interval '30 days' ${ROWS(`${N} / 5`)}`,
  'webhook deliveries': `
    insert into webhook_deliveries (message_id, endpoint_id, type, created_at, state, attempts, last_attempt_at, last_status)
    select message.id, endpoint.id, message.type, message.created_at, case when hashtext(message.id) % 500 = 0 then 'failed' else 'delivered' end,
           1, message.created_at, 200
    from webhook_messages message cross join lateral (select id from webhook_endpoints order by id limit 1) as endpoint
    where $1 > 0`,
  'audit log': `
    insert into audit_log (sequence, id, occurred_at, actor, action, subject_id, reason, hash)
    select n, bench_id(now() - interval '3 years' + n * interval '1 minute', 'u' || n), now() - interval '3 years' + n * interval '1 minute',
           'operator:anna' || n % 9 || '@example.com', (array['license.suspend', 'license.reveal', 'customer.export'])[1 + n % 3],
           bench_license(n)::text, 'ticket ' || n, sha256(('c' || n)::bytea)
    ${ROWS(`${N} / 10`)}`,
};

const INSERT_EVENTS = `
  with stored as (
    insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version, os_version, props)
    select gen_random_uuid(), $1::timestamptz + n * interval '1 second' * 86400 / $2, md5('i' || n % $3)::uuid, gen_random_uuid(),
           'event_' || floor(40 * power(random(), 3)), $1, '2.' || n % 5, 'macOS 15',
           jsonb_build_object('plan', (array['free', 'pro', 'team'])[1 + n % 3])
    from generate_series(0, $2 - 1) as n
    returning event_id, received_at
  )
  insert into event_ids (event_id, received_at) select event_id, received_at from stored where $4`;

const INSERT_USE = `
  insert into usage_days (machine_key, day, first_at, last_at, beats, app_version, os_version)
  select md5('m' || (n + 37 * $3) % ($2 * 3))::uuid, $1::date, $1::date, $1::date, 3, '2.' || n % 9, 'macOS 15'
  from generate_series(0, $2 - 1) as n`;

/** Of a third of the trials. A roll-up, computed from activations that this data lacks. */
const CONVERSIONS = `
  insert into trial_conversions (trial_id, license_id, product_id, converted_at)
  select id, id, product_id, created_at + interval '3 days' from licenses where trial and hashtext(id::text) % 3 = 0
  on conflict do nothing`;

/** Event ids are kept for some weeks. */
const DAYS_WITH_IDS = 21;

/** Fills a migrated, empty database. */
export async function fillConsoleDatabase(pool: Pool, scale: ConsoleScale): Promise<void> {
  await pool.query(createFunctions(scale.licenses, new Date()));
  for (const [name, text] of Object.entries(FILLS)) {
    process.stderr.write(`\r\u001B[K  ${name}`);
    await pool.query(text, text.includes('$1') ? [scale.licenses] : []);
  }
  await fillUse(pool, scale);
  process.stderr.write('\r\u001B[K  roll-ups\n');
  const { signal } = new AbortController();
  await runRollups({ pool, clock: systemClock, readDatabaseTime }, { signal });
  await pool.query(CONVERSIONS);
  await pool.query(
    'update audit_head set sequence = (select coalesce(max(sequence), 0) from audit_log)',
  );
  await pool.query('vacuum analyze');
  await pool.query('checkpoint');
}

async function fillUse(pool: Pool, { events, licenses }: ConsoleScale): Promise<void> {
  const today = dayOf(new Date());
  const perDay = Math.ceil(events / DAYS);
  const machines = Math.ceil(licenses / DAYS);
  for (let ago = DAYS - 1; ago >= 0; ago--) {
    const day = addDays(today, -ago);
    process.stderr.write(`\r\u001B[K  events of ${day}`);
    await createPartition(pool, day);
    const at = `${day}T00:00:00Z`;
    await pool.query(INSERT_EVENTS, [at, perDay, Math.ceil(licenses / 5), ago < DAYS_WITH_IDS]);
    if (ago > 0) await createInstallIndex(pool, day);
    await pool.query(INSERT_USE, [day, machines, ago]);
  }
}
