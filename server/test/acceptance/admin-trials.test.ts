import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';

import { runRollups } from '#server/features/analytics/rollups/run-rollups.ts';

import { startTestService } from '../harness.ts';
import type { Answer } from '../http-client.ts';
import { activate, startTrial } from '../license-steps.ts';
import { openBrowser } from '../operator-steps.ts';
import { DAY_MS, fromStart, HOUR_MS, SECOND_MS, TEST_START } from '../test-clock.ts';
import { problem, readBody, validationErrorsOf } from './bodies.ts';

const PATH = '/api/v1/admin/trials';

const service = await startTestService();
const { clock, context, pool } = service;
let viewer = await openBrowser(service, 'viewer');

beforeEach(async () => {
  clock.set(TEST_START);
  await pool.query(
    'truncate licenses, activations, trial_claims, trial_conversions, trial_days, rollup_marks',
  );
});

const rollUp = () =>
  runRollups(context, { signal: new AbortController().signal, everything: true });

interface Trial {
  readonly id: string;
  readonly machineId: string;
  readonly keyHint: string;
}

async function start(name: string): Promise<Trial> {
  const machineId = `${name}-${randomUUID()}`;
  const { license_key: licenseKey } = await startTrial(service, { machine_id: machineId });
  const { rows } = await pool.query<{ license_id: string }>(
    'select license_id from activations where machine_id = $1',
    [machineId],
  );
  return { id: rows[0]?.license_id ?? '', machineId, keyHint: licenseKey.slice(-4) };
}

/** Activates a license on the machine of a trial, and returns its id. */
async function convert({ machineId }: Trial, productId = 'personal'): Promise<string> {
  const { license, licenseKey } = await service.issue({ productId });
  await activate(service, licenseKey, { machine_id: machineId });
  return license.id;
}

/** Creates a trial in each state: ended, converted, running; the first one is the oldest. */
async function startAll() {
  const ended = await start('ended');
  clock.advance(5 * DAY_MS);
  const converted = await start('converted');
  clock.advance(SECOND_MS);
  const licenseId = await convert(converted, 'sellers');
  clock.advance(3 * DAY_MS);
  const running = await start('running');
  await rollUp();
  // A session ends after 7 days without use.
  viewer = await openBrowser(service, 'viewer');
  return { ended, converted, running, licenseId };
}

function items({ body, status, text }: Answer): Record<string, unknown>[] {
  assert.equal(status, 200, text);
  const found = readBody(body)['items'];
  assert.ok(Array.isArray(found));
  return found;
}

async function idsOf(query: string): Promise<unknown[]> {
  return items(await viewer.get(`${PATH}?${query}`)).map(({ id }) => id);
}

describe('GET /api/v1/admin/trials', () => {
  test('lists trials, newest first, with machine and conversion', async () => {
    const { ended, converted, running, licenseId } = await startAll();
    const found = items(await viewer.get(PATH));
    assert.deepEqual(
      found.map(({ id, state }) => [id, state]),
      [
        [running.id, 'running'],
        [converted.id, 'converted'],
        [ended.id, 'ended'],
      ],
    );
    assert.deepEqual(found[1], {
      id: converted.id,
      product_id: 'personal',
      key_hint: converted.keyHint,
      state: 'converted',
      created_at: fromStart(5 * DAY_MS),
      expires_at: fromStart(12 * DAY_MS),
      machine_id: converted.machineId,
      os_version: null,
      app_version: null,
      last_seen_at: fromStart(5 * DAY_MS),
      conversion: {
        license_id: licenseId,
        product_id: 'sellers',
        converted_at: fromStart(5 * DAY_MS + SECOND_MS),
      },
    });
  });

  test('filters by state and product, searches, and sorts', async () => {
    const { ended, converted, running } = await startAll();
    assert.deepEqual(await idsOf('state=running'), [running.id]);
    assert.deepEqual(await idsOf('state=ended'), [ended.id]);
    assert.deepEqual(await idsOf('state=converted'), [converted.id]);
    assert.equal((await idsOf('product=personal')).length, 3);
    assert.deepEqual(await idsOf('product=sellers'), []);
    assert.deepEqual(await idsOf('sort=expires_at'), [ended.id, converted.id, running.id]);
    assert.deepEqual(await idsOf(`search=${running.machineId}`), [running.id]);
    assert.deepEqual(await idsOf('search=RUNNING'), []);
    assert.deepEqual(await idsOf('search=running-'), [running.id]);
    assert.ok((await idsOf(`search=${ended.keyHint.toLowerCase()}`)).includes(ended.id));
  });

  test('a suspended trial has ended, an extended one runs', async () => {
    const { ended, running } = await startAll();
    await service.setFacts(running.id, { suspended_at: clock.now() });
    await service.setFacts(ended.id, { expires_at: new Date(clock.now().getTime() + 1) });
    assert.deepEqual(await idsOf('state=running'), [ended.id]);
    assert.deepEqual(await idsOf('state=ended'), [running.id]);
    const states = items(await viewer.get(PATH)).map(({ state }) => state);
    assert.deepEqual(states, ['ended', 'converted', 'running']);
  });

  test('pages by cursor', async () => {
    const { ended, converted, running } = await startAll();
    const first = await viewer.get(`${PATH}?limit=2`);
    assert.deepEqual(
      items(first).map(({ id }) => id),
      [running.id, converted.id],
    );
    const cursor = String(readBody(first.body)['next_cursor']);
    const last = await viewer.get(`${PATH}?limit=2&cursor=${cursor}`);
    assert.deepEqual(
      items(last).map(({ id }) => id),
      [ended.id],
    );
    assert.equal(readBody(last.body)['next_cursor'], null);
  });

  test('401 and 422', async () => {
    const { status, body } = await service.get(PATH);
    assert.deepEqual([status, body], [401, problem('not_signed_in')]);
    for (const [query, place] of [
      ['state=other', 'query.state'],
      ['sort=key', 'query.sort'],
      ['limit=0', 'query.limit'],
      ['cursor=x', 'query.cursor'],
    ]) {
      const answer = await viewer.get(`${PATH}?${query}`);
      assert.deepEqual([answer.status, validationErrorsOf(answer.body)[0]?.[0]], [422, place]);
    }
  });
});

describe('GET /api/v1/admin/trials/export', () => {
  test('sends all trials of the filter as CSV, and records it', async () => {
    const { converted, licenseId } = await startAll();
    const operator = await openBrowser(service, 'viewer');
    const { headers, status, text } = await operator.get(`${PATH}/export?state=converted`);
    assert.equal(status, 200);
    assert.equal(headers.get('content-disposition'), 'attachment; filename="trials.csv"');
    const [head, row, ...rest] = text.split('\r\n');
    assert.match(head ?? '', /^id,product_id,key_hint,state,created_at,/u);
    assert.deepEqual(rest, ['']);
    assert.match(
      row ?? '',
      new RegExp(`^${converted.id},personal,${converted.keyHint},converted,`, 'u'),
    );
    assert.match(row ?? '', new RegExp(`,${licenseId},sellers,2027-[^,]+$`, 'u'));
    const { rows } = await pool.query(
      `select actor, details from audit_log where action = 'trial.export'`,
    );
    assert.deepEqual(rows, [
      { actor: `operator:${operator.email}`, details: { state: 'converted' } },
    ]);
  });
});

describe('GET /api/v1/admin/trials/report', () => {
  test('counts trials by week, by product and by what was bought', async () => {
    await startAll();
    clock.advance(HOUR_MS);
    const { body, status } = await viewer.get(`${PATH}/report`);
    assert.equal(status, 200);
    assert.deepEqual(body, {
      from: '2026-12-16',
      to: '2027-03-09',
      trials: 3,
      converted: 1,
      share: 1 / 3,
      weeks: [
        { week: '2027-03-01', trials: 2, converted: 1, share: 0.5, open: true },
        { week: '2027-03-08', trials: 1, converted: 0, share: 0, open: true },
      ],
      products: [{ product_id: 'personal', trials: 3, converted: 1, share: 1 / 3 }],
      purchases: [{ product_id: 'sellers', converted: 1 }],
      rolled_at: fromStart(8 * DAY_MS + SECOND_MS),
    });
  });

  test('exports the weeks', async () => {
    await startAll();
    const { headers, text } = await viewer.get(`${PATH}/report/export?to=2027-03-07`);
    assert.equal(headers.get('content-disposition'), 'attachment; filename="conversion.csv"');
    assert.deepEqual(text.split('\r\n'), [
      'week,trials,converted,share,open',
      '2027-03-01,2,1,0.5,true',
      '',
    ]);
  });

  test('reports a range and a product', async () => {
    await startAll();
    const early = readBody((await viewer.get(`${PATH}/report?to=2027-03-07`)).body);
    assert.deepEqual([early['trials'], early['converted']], [2, 1]);
    const other = readBody((await viewer.get(`${PATH}/report?product=sellers`)).body);
    assert.deepEqual([other['trials'], other['weeks'], other['share']], [0, [], 0]);
    for (const query of ['from=2027-02-30', 'to=yesterday']) {
      const answer = await viewer.get(`${PATH}/report?${query}`);
      assert.equal(answer.status, 422, query);
    }
  });
});
