import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

import { createPartition } from '#server/features/analytics/queries/partitions.ts';
import { runRollups } from '#server/features/analytics/rollups/run-rollups.ts';

import { startTestService } from '../harness.ts';
import { openBrowser, type Browser } from '../operator-steps.ts';
import { TEST_START } from '../test-clock.ts';
import { problem, readBody, validationErrorsOf } from './bodies.ts';

const service = await startTestService();
const { context, pool } = service;
let browser: Browser;

/** The report covers these days; the days before are 16 to 22 February. */
const DAYS = 'from=2027-02-23&to=2027-03-01';

async function storeUse(
  day: string,
  machines: number,
  version: string | null,
  system: string,
  from = 1,
): Promise<void> {
  await pool.query(
    `insert into usage_days (machine_key, day, first_at, last_at, beats, app_version, os_version)
     select md5(number::text)::uuid, $1::date, $1::date, $1::date, 1, $3, $4
     from generate_series($5::integer, $5 + $2 - 1) as number`,
    [day, machines, version, system, from],
  );
}

async function storeEvents(
  day: string,
  name: string,
  count: number,
  version: string,
  props: object | null = null,
): Promise<void> {
  await pool.query(
    `insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version, props)
     select gen_random_uuid(), $1, md5(number::text)::uuid, gen_random_uuid(), $2, $1, $4, $5::jsonb
     from generate_series(1, $3) as number`,
    [`${day}T10:00:00Z`, name, count, version, props === null ? null : JSON.stringify(props)],
  );
}

const EVENT_ID = '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d';
const INSTALL_ID = 'aaaaaaaa-7c1e-4d32-9c41-3f5f0a1b2c3d';

async function storeOneEvent(): Promise<void> {
  await pool.query(
    `with incoming as (insert into event_ids values ($1, $3) returning *)
     insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version, os_version, props)
     select event_id, received_at, $2, $2, 'opened', received_at - interval '1 minute', '2.0', 'macOS 15.1', '{"file": "pdf"}'
     from incoming`,
    [EVENT_ID, INSTALL_ID, '2027-02-28T10:00:00Z'],
  );
}

before(async () => {
  for (const day of ['2027-02-20', '2027-02-24', '2027-02-28']) await createPartition(pool, day);
  await storeUse('2027-02-17', 3, '1.0', 'Windows 10');
  await storeUse('2027-02-24', 4, '2.0', 'macOS 15.1');
  await storeUse('2027-02-24', 2, '1.0', 'Ubuntu 24.04', 11);
  await storeUse('2027-02-25', 1, null, '15.1');
  await storeEvents('2027-02-20', 'opened', 2, '1.0', { file: 'png' });
  await storeEvents('2027-02-24', 'opened', 6, '2.0', { file: 'pdf' });
  await storeEvents('2027-02-28', 'opened', 3, '1.0', { file: 'png', big: true });
  await storeEvents('2027-02-28', 'Export_done', 1, '2.0');
  await storeOneEvent();
  await pool.query(
    `insert into event_drops values ('2027-02-20', 'too_old', 4), ('2027-02-24', 'name', 2), ('2027-02-28', 'name', 1)`,
  );
  const { signal } = new AbortController();
  await runRollups(context, { signal, everything: true });
  browser = await openBrowser(service, 'viewer');
});

async function read(path: string): Promise<Record<string, unknown>> {
  const answer = await browser.get(`/api/v1/admin/${path}`);
  assert.equal(answer.status, 200, answer.text);
  return { ...readBody(answer.body) };
}

/** Returns value, count and count before of each item. */
async function readCounts(path: string): Promise<unknown> {
  const { items } = await read(path);
  assert.ok(Array.isArray(items));
  return items.map((item) => [item.value, item.count, item.previous_count]);
}

describe('GET /usage', () => {
  test('counts the machines of each day beside the days before', async () => {
    const { periods, up_to_date_at: upToDate, ...range } = await read(`usage?${DAYS}`);
    assert.deepEqual(range, {
      from: '2027-02-23',
      to: '2027-03-01',
      previous_from: '2027-02-16',
      previous_to: '2027-02-22',
      by: 'day',
    });
    assert.equal(upToDate, TEST_START.toISOString());
    assert.ok(Array.isArray(periods));
    assert.equal(periods.length, 7);
    assert.deepEqual(periods[1], {
      starts: '2027-02-24',
      machines: 6,
      previous_starts: '2027-02-17',
      previous_machines: 3,
    });
  });

  test('counts weeks and months, each machine once, beside the same number before', async () => {
    assert.deepEqual((await read(`usage?by=week&${DAYS}`))['periods'], [
      { starts: '2027-02-22', machines: 6, previous_starts: '2027-02-08', previous_machines: 0 },
      { starts: '2027-03-01', machines: 0, previous_starts: '2027-02-15', previous_machines: 3 },
    ]);
    assert.deepEqual((await read(`usage?by=month&from=2027-02-01&to=2027-02-28`))['periods'], [
      { starts: '2027-02-01', machines: 6, previous_starts: '2027-01-01', previous_machines: 0 },
    ]);
  });

  test('covers the last 30 days by default', async () => {
    const { from, to } = await read('usage');
    assert.deepEqual([from, to], ['2027-01-31', '2027-03-01']);
  });

  test('exports CSV', async () => {
    const { text, headers } = await browser.get(`/api/v1/admin/usage/export?${DAYS}`);
    assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.deepEqual(text.split('\r\n').slice(0, 3), [
      'starts,machines,previous_starts,previous_machines',
      '2027-02-23,0,2027-02-16,0',
      '2027-02-24,6,2027-02-17,3',
    ]);
  });

  test('rejects days that are none, and ranges that end before their start or are too long', async () => {
    for (const [query, place] of [
      ['from=2027-02-29', 'query.from'],
      ['to=yesterday', 'query.to'],
      ['from=2027-02-02&to=2027-02-01', 'query.from'],
      ['from=2020-01-01&to=2027-02-01', 'query.from'],
    ]) {
      const { status, body } = await browser.get(`/api/v1/admin/usage?${query}`);
      assert.deepEqual([status, validationErrorsOf(body)], [422, [[place, 'date_invalid']]]);
    }
    const { status } = await browser.get('/api/v1/admin/usage?by=year');
    assert.equal(status, 422);
  });
});

describe('GET /usage/breakdown', () => {
  test('counts machine days by version, with share and trend', async () => {
    const { items, count, previous_count: previous } = await read(`usage/breakdown?${DAYS}`);
    assert.deepEqual([count, previous], [7, 3]);
    assert.ok(Array.isArray(items));
    assert.deepEqual(items[0], {
      value: '2.0',
      count: 4,
      share: 4 / 7,
      previous_count: 0,
      previous_share: 0,
      installs: null,
      last_day: '2027-02-24',
      trend: [0, 4, 0, 0, 0, 0, 0],
    });
    assert.deepEqual(
      items.map((item) => [item.value, item.count, item.previous_count]),
      [
        ['2.0', 4, 0],
        ['1.0', 2, 3],
        ['', 1, 0],
      ],
    );
  });

  test('groups systems by platform', async () => {
    assert.deepEqual(await readCounts(`usage/breakdown?by=platform&${DAYS}`), [
      ['macOS', 4, 0],
      ['Linux', 2, 0],
      ['', 1, 0],
      ['Windows', 0, 3],
    ]);
    assert.deepEqual(await readCounts(`usage/breakdown?by=system&${DAYS}`), [
      ['macOS 15.1', 4, 0],
      ['Ubuntu 24.04', 2, 0],
      ['15.1', 1, 0],
      ['Windows 10', 0, 3],
    ]);
  });

  test('adds the days of a long period in its trend', async () => {
    const { items, trend_days: size } = await read('usage/breakdown?from=2026-07-01&to=2027-03-01');
    assert.equal(size, 4);
    assert.ok(Array.isArray(items));
    assert.equal(items[0].trend.length, 61);
  });

  test('exports CSV', async () => {
    const { text } = await browser.get(`/api/v1/admin/usage/breakdown/export?by=platform&${DAYS}`);
    assert.deepEqual(text.split('\r\n').slice(0, 2), [
      'platform,machine_days,share,previous_machine_days,previous_share,last_day',
      `macOS,4,${4 / 7},0,0,2027-02-24`,
    ]);
  });
});

test('GET /usage/retention counts the machines of each first week in the weeks after', async () => {
  const { cohorts } = await read('usage/retention?from=2027-02-15&to=2027-03-01');
  assert.deepEqual(cohorts, [
    { week: '2027-02-15', machines: 3, active: [3, 3, 0] },
    { week: '2027-02-22', machines: 3, active: [3, 0] },
  ]);
});

test('GET /usage/retention/export has a line for each week of each first week', async () => {
  const { text } = await browser.get(
    '/api/v1/admin/usage/retention/export?from=2027-02-15&to=2027-03-01',
  );
  assert.deepEqual(text.trim().split('\r\n'), [
    'first_week,machines,weeks_after,active',
    '2027-02-15,3,0,3',
    '2027-02-15,3,1,3',
    '2027-02-15,3,2,0',
    '2027-02-22,3,0,3',
    '2027-02-22,3,1,0',
  ]);
});

describe('GET /events', () => {
  test('counts events by name, with the largest number of installs on a day', async () => {
    const { items, count } = await read(`events?${DAYS}`);
    assert.equal(count, 11);
    assert.ok(Array.isArray(items));
    assert.deepEqual(
      items.map((item) => [item.value, item.count, item.previous_count, item.installs]),
      [
        ['opened', 10, 2, 6],
        ['Export_done', 1, 0, 1],
      ],
    );
  });

  test('finds a part of the name, and filters by version', async () => {
    assert.deepEqual(await readCounts(`events?search=export&${DAYS}`), [['Export_done', 1, 0]]);
    assert.deepEqual(await readCounts(`events?version=1.0&${DAYS}`), [['opened', 3, 2]]);
    assert.deepEqual(await readCounts(`events?search=%25&${DAYS}`), []);
  });

  test('counts an event on each day, also of one version', async () => {
    const { days } = await read(`events/days?name=opened&${DAYS}`);
    assert.ok(Array.isArray(days));
    assert.deepEqual(days[4], {
      day: '2027-02-27',
      events: 0,
      installs: 0,
      previous_day: '2027-02-20',
      previous_events: 2,
    });
    assert.deepEqual([days[5].events, days[5].installs], [4, 4]);
    const ofVersion = await read(`events/days?name=opened&version=2.0&${DAYS}`);
    assert.ok(Array.isArray(ofVersion['days']));
    assert.deepEqual(
      ofVersion['days'].map((day) => day.events),
      [0, 6, 0, 0, 0, 1, 0],
    );
  });

  test('breaks an event down by version, property and value', async () => {
    const name = `name=opened&${DAYS}`;
    assert.deepEqual(await readCounts(`events/breakdown?${name}`), [
      ['2.0', 7, 0],
      ['1.0', 3, 2],
    ]);
    assert.deepEqual(await readCounts(`events/breakdown?by=property&${name}`), [
      ['file', 10, 2],
      ['big', 3, 0],
    ]);
    const { items } = await read(`events/breakdown?by=property&${name}`);
    assert.ok(Array.isArray(items));
    assert.equal(items[1].share, 0.3);
    assert.deepEqual(await readCounts(`events/breakdown?by=value&key=file&${name}`), [
      ['pdf', 7, 0],
      ['png', 3, 2],
    ]);
  });

  test('needs the name of an event, and a key for values', async () => {
    for (const [query, place] of [
      ['', 'query.name'],
      ['name=opened&by=value', 'query.key'],
    ]) {
      const { status, body } = await browser.get(`/api/v1/admin/events/breakdown?${query}`);
      assert.deepEqual([status, validationErrorsOf(body)], [422, [[place, 'missing']]]);
    }
  });

  test('exports names, days and values as CSV', async () => {
    const paths: readonly (readonly [string, string])[] = [
      [`events/export?${DAYS}`, 'name,events,share,previous_events,previous_share,last_day'],
      [
        `events/days/export?name=opened&${DAYS}`,
        'day,events,installs,previous_day,previous_events',
      ],
      [
        `events/breakdown/export?name=opened&by=value&key=file&${DAYS}`,
        'value,events,share,previous_events,previous_share,last_day',
      ],
    ];
    for (const [path, head] of paths) {
      const { status, text } = await browser.get(`/api/v1/admin/${path}`);
      assert.deepEqual([status, text.split('\r\n')[0]], [200, head]);
    }
  });

  test('counts dropped events by reason', async () => {
    assert.deepEqual((await read(`events/drops?${DAYS}`))['items'], [
      { reason: 'name', events: 3, previous_events: 0, last_day: '2027-02-28' },
      { reason: 'too_old', events: 0, previous_events: 4, last_day: '2027-02-20' },
    ]);
    const { text } = await browser.get(`/api/v1/admin/events/drops/export?${DAYS}`);
    assert.deepEqual(text.trim().split('\r\n'), [
      'reason,events,previous_events,last_day',
      'name,3,0,2027-02-28',
      'too_old,0,4,2027-02-20',
    ]);
  });
});

describe('stored events', () => {
  const stored = {
    event_id: EVENT_ID,
    name: 'opened',
    install_id: INSTALL_ID,
    session_id: INSTALL_ID,
    occurred_at: '2027-02-28T09:59:00.000Z',
    client_occurred_at: null,
    received_at: '2027-02-28T10:00:00.000Z',
    app_version: '2.0',
    os_version: 'macOS 15.1',
    props: { file: 'pdf' },
  };

  test('shows one event by its id', async () => {
    assert.deepEqual(await read(`events/stored/${EVENT_ID}`), stored);
    const unknown = await browser.get(`/api/v1/admin/events/stored/${INSTALL_ID}`);
    const detail =
      'There is no such event: it was never received, not stored, removed by age, erased, or archived.';
    assert.deepEqual([unknown.status, unknown.body], [404, problem('not_found', { detail })]);
  });
});
