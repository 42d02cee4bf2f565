import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';

import { Type, type Static } from 'typebox';
import { Parse } from 'typebox/value';

import { runRollups } from '#server/features/analytics/rollups/run-rollups.ts';
import { addEndpoint } from '#server/features/outgoing-webhooks/add-endpoint.ts';

import { startTestService } from '../harness.ts';
import { listLicenseIds } from '../admin-license-steps.ts';
import { activate, startTrial } from '../license-steps.ts';
import { openBrowser } from '../operator-steps.ts';
import { DAY_MS, HOUR_MS, SECOND_MS, TEST_START } from '../test-clock.ts';

let isDiskLow = false;
const service = await startTestService({ isDiskLow: () => isDiskLow });
const { clock, context, pool } = service;
const viewer = await openBrowser(service, 'viewer');

const Need = Type.Object({
  code: Type.String(),
  severity: Type.String(),
  count: Type.Number(),
  since: Type.Union([Type.String(), Type.Null()]),
  sentence: Type.String(),
  path: Type.String(),
});
const MaybeNumber = Type.Union([Type.Number(), Type.Null()]);
const Figure = Type.Object({
  name: Type.String(),
  value: MaybeNumber,
  previous: MaybeNumber,
  days: Type.Array(MaybeNumber),
  previous_days: Type.Array(MaybeNumber),
});
const Overview = Type.Object({
  needs: Type.Array(Need),
  figures: Type.Array(Figure),
  first_day: Type.String(),
  rolled_at: Type.Union([Type.String(), Type.Null()]),
});

beforeEach(async () => {
  isDiskLow = false;
  clock.set(new Date(clock.now().getTime() + HOUR_MS));
  await pool.query(
    'truncate key_emails, billing_events, webhook_endpoints, webhook_deliveries, jobs, licenses, rollup_marks, license_days, trial_days, usage_totals',
  );
});

async function read(): Promise<Static<typeof Overview>> {
  const answer = await viewer.get('/api/v1/admin/overview');
  assert.equal(answer.status, 200, answer.text);
  return Parse(Overview, answer.body);
}

const ago = (ms: number): Date => new Date(clock.now().getTime() - ms);

/** Code, severity, count and time of each need. */
async function readNeeds(): Promise<unknown[]> {
  return (await read()).needs.map(({ code, count, severity, since }) => [
    code,
    severity,
    count,
    since,
  ]);
}

const add = (url: string) =>
  addEndpoint(context, { url, description: null, eventTypes: [] }, { actor: 'test', reason: null });

describe('needs', () => {
  test('lists nothing when nothing needs an operator', async () => {
    assert.deepEqual(await readNeeds(), []);
  });

  test('lists e-mails with keys by their reason, and each payment state', async () => {
    const times = [ago(DAY_MS), ago(2 * DAY_MS), ago(8 * DAY_MS), ago(10 * 60 * SECOND_MS)];
    await pool.query(
      `insert into key_emails (transaction_id, provider, state, reason, created_at, claimed_at) values
         ('1', 'paddle', 'refused', 'smtp_550', $1, $1), ('2', 'paddle', 'refused', 'smtp_550', $2, $2),
         ('3', 'paddle', 'refused', 'smtp_550', $3, $3), ('4', 'paddle', 'refused', 'unconfirmed', $1, $1),
         ('5', 'paddle', 'waiting', 'no_address', $3, null), ('6', 'paddle', 'waiting', null, $2, null),
         ('7', 'paddle', 'waiting', null, $4, null), ('8', 'paddle', 'sent', null, $3, $3)`,
      times,
    );
    await pool.query(
      `insert into billing_events (event_id, provider, type, occurred_at, received_at, headers, status, raw, next_attempt_at)
       select id, 'paddle', 'x', at, at, '{}', status, '', case when status = 'deferred' then at end
       from (values ('a', 'failed', $1::timestamptz), ('b', 'failed', $2), ('c', 'deferred', $1), ('d', 'processed', $1))
         as event (id, status, at)`,
      times.slice(0, 2),
    );
    const [day, days] = times.map((time) => time.toISOString());
    assert.deepEqual(await readNeeds(), [
      ['key_emails.late', 'critical', 1, days],
      ['payment_events.failed', 'critical', 2, days],
      ['key_emails.no_address', 'warning', 1, times[2]?.toISOString()],
      ['key_emails.refused', 'warning', 2, days],
      ['key_emails.unconfirmed', 'warning', 1, day],
      ['payment_events.deferred', 'warning', 1, day],
    ]);
    const [late, failed] = (await read()).needs;
    assert.equal(
      late?.sentence,
      '1 e-mail with keys has waited for more than 15 minutes. Check whether the jobs of the service run.',
    );
    assert.equal(failed?.path, '/payments?state=failed');
  });

  test('lists endpoints that fail, and deliveries that failed', async () => {
    await add('https://good.example.com/');
    await add('https://failing.example.com/');
    await add('https://gone.example.com/');
    await add('https://off.example.com/');
    const set = (host: string, columns: string) =>
      pool.query(`update webhook_endpoints set ${columns} where url like 'https://${host}.%'`, [
        ago(DAY_MS),
      ]);
    await set('failing', 'failing_since = $1');
    await set('gone', `disabled_at = $1, disabled_reason = 'gone'`);
    await set('off', `disabled_at = $1, disabled_reason = 'operator'`);
    await pool.query(
      `insert into webhook_deliveries (message_id, endpoint_id, state, last_attempt_at, type, created_at)
       select 'message', id, 'failed', $1, 'x', $1 from webhook_endpoints`,
      [ago(HOUR_MS)],
    );
    const needs = await readNeeds();
    assert.deepEqual(needs, [
      ['endpoint.failing', 'warning', 1, ago(DAY_MS).toISOString()],
      ['endpoint.disabled', 'warning', 1, ago(DAY_MS).toISOString()],
      ['deliveries.failed', 'warning', 3, ago(HOUR_MS).toISOString()],
    ]);
  });

  test('lists failed and late jobs, past due subscriptions, and a full disk', async () => {
    isDiskLow = true;
    await pool.query(
      `insert into jobs (name, payload, priority, attempts, max_attempts, run_at) values
         ('a', '{}', 1, 3, 3, now()), ('b', '{}', 1, 0, 3, now() - interval '11 minutes'),
         ('c', '{}', 1, 0, 3, now() + interval '1 minute')`,
    );
    const expiresAt = ago(DAY_MS);
    await service.issue({ facts: { subscription: true, expires_at: expiresAt } });
    await service.issue({ facts: { subscription: true, expires_at: ago(15 * DAY_MS) } });
    await service.issue({
      facts: { subscription: true, expires_at: expiresAt, revoked_at: expiresAt },
    });
    await service.issue({ facts: { expires_at: expiresAt } });
    const { needs } = await read();
    assert.deepEqual(
      needs.map(({ code, count }) => [code, count]),
      [
        ['disk.low', 1],
        ['jobs.late', 1],
        ['jobs.failed', 1],
        ['licenses.past_due', 1],
      ],
    );
    assert.equal(needs.at(-1)?.since, expiresAt.toISOString());
  });

  test('counts as many past due licenses as the list that it links to', async () => {
    const facts = { subscription: true, expires_at: ago(DAY_MS) };
    const later = new Date(clock.now().getTime() + DAY_MS);
    await service.issue({ facts });
    await service.issue({ facts: { ...facts, cancel_scheduled_for: later } });
    await service.issue({ facts: { ...facts, paused_at: later } });
    await service.issue({ facts: { ...facts, canceled_at: later } });
    const tested = await service.issue({ facts: { ...facts, is_test: true } });
    const [need] = (await read()).needs;
    assert.deepEqual([need?.code, need?.count], ['licenses.past_due', 4]);
    const [page, query = ''] = need?.path.split('?') ?? [];
    assert.equal(page, '/licenses');
    assert.equal((await listLicenseIds(viewer, query)).length, need?.count);
    assert.deepEqual(await listLicenseIds(viewer, 'test=true'), [tested.license.id]);
  });

  test('lists refusals that rise', async () => {
    await pool.query(
      `insert into license_refusals (license_id, day, reason, refusals, last_at)
       select gen_random_uuid(), $1::timestamptz, 'license_expired', 5, $1 from generate_series(1, 12)`,
      [clock.now()],
    );
    const [need] = (await read()).needs;
    assert.deepEqual([need?.code, need?.count], ['licenses.refusals_rising', 12]);
    assert.equal(
      need?.sentence,
      '12 licenses were refused today, against 0 a day in the week before. Look at the reasons.',
    );
    await pool.query('truncate license_refusals');
  });

  test('reads the database every ten seconds at most', async () => {
    await read();
    await pool.query(
      `insert into jobs (name, payload, priority, attempts, max_attempts, run_at) values ('a', '{}', 1, 3, 3, now())`,
    );
    clock.advance(10 * SECOND_MS - 1);
    assert.deepEqual(await readNeeds(), []);
    clock.advance(1);
    assert.equal((await readNeeds()).length, 1);
  });
});

describe('figures', () => {
  test('are unknown before the first roll-up', async () => {
    const { figures, first_day: firstDay, rolled_at: rolledAt } = await read();
    assert.deepEqual(
      figures.map(({ name, value, previous }) => [name, value, previous]),
      [
        ['usable_licenses', null, null],
        ['new_licenses', null, null],
        ['trials_started', 0, 0],
        ['trials_converted', 0, 0],
        ['active_machines', 0, 0],
      ],
    );
    assert.deepEqual([firstDay, rolledAt], ['2027-01-31', null]);
  });

  test('compare 30 days with the 30 before', async () => {
    const today = TEST_START.toISOString().slice(0, 10);
    await pool.query(
      `insert into usage_totals (period, starts, machines) values
         ('day', $1::date, 1), ('day', $1::date - 1, 40), ('day', $1::date - 2, 18), ('day', $1::date - 30, 30)`,
      [today],
    );
    await service.issue({ facts: { created_at: ago(40 * DAY_MS) } });
    await service.issue({ facts: { created_at: ago(DAY_MS) } });
    const { licenseKey } = await service.issue();
    await startTrial(service, { machine_id: 'converted' });
    await startTrial(service, { machine_id: 'running' });
    await activate(service, licenseKey, { machine_id: 'converted' });
    await runRollups(context, { signal: new AbortController().signal, everything: true });
    const { figures, rolled_at: rolledAt } = await read();
    assert.equal(rolledAt, clock.now().toISOString());
    assert.deepEqual(
      figures.map(({ name, value, previous }) => [name, value, previous]),
      [
        ['usable_licenses', 3, 1],
        ['new_licenses', 2, 1],
        ['trials_started', 2, 0],
        ['trials_converted', 1, 0],
        ['active_machines', 2, 1],
      ],
    );
    for (const { days, previous_days: before } of figures) {
      assert.deepEqual([days.length, before.length], [30, 30]);
    }
    assert.deepEqual(figures[1]?.days.slice(-3), [0, 1, 1]);
  });
});
