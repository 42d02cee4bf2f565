import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';

import { countJobs, scheduleSingletons } from '#server/jobs/queries.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';
import { parseCatalog } from '#server/config/catalog.ts';
import type { BackgroundTask } from '#server/jobs/background-task.ts';

import { emptyAuditLog } from '../audit-log.ts';
import { startTestService } from '../harness.ts';
import { openBrowser } from '../operator-steps.ts';
import { SECOND_MS, TEST_START } from '../test-clock.ts';
import { problem, readBody } from './bodies.ts';

const directory = mkdtempSync(join(tmpdir(), 'latchkey-admin-health-'));
after(() => rmSync(directory, { recursive: true }));
const catalogFile = join(directory, 'catalog.yaml');
const CATALOG = `key_prefix: LK
trial: { product: solo }
products:
  - id: solo
    name: Solo
    tier: solo
    features: [history]
    max_activations: 2
    prices: { paddle: [pri_1, pri_2], stripe: [price_1] }
`;
writeFileSync(catalogFile, CATALOG);

const service = await startTestService({
  catalog: parseCatalog(CATALOG, 'catalog.yaml'),
  settings: { LATCHKEY_CATALOG: catalogFile, LATCHKEY_DATA_DIR: directory },
  webhooks: { stripe: [] },
});
const { clock, context, pool } = service;
const viewer = await openBrowser(service, 'viewer');
const admin = await openBrowser(service, 'admin');

async function read(path: string): Promise<Record<string, unknown>> {
  const answer = await viewer.get(`/api/v1/admin/${path}`);
  assert.equal(answer.status, 200, answer.text);
  return { ...readBody(answer.body) };
}

async function readItems(path: string): Promise<Record<string, unknown>[]> {
  const { items } = await read(path);
  assert.ok(Array.isArray(items));
  return items;
}

/** Adds a job in a state, and returns its id. */
async function addJob(
  transactionId: string,
  state: { attempts?: number; error?: string; running?: boolean } = {},
): Promise<string> {
  const payload = { provider: 'paddle', transactionId };
  await addJobs(pool, [{ name: 'send_key_email', payload, key: transactionId, maxAttempts: 3 }]);
  const { rows } = await pool.query<{ id: number }>(
    `update jobs
     set attempts = $2, last_error = $3, lease_id = case when $4 then gen_random_uuid() end,
         leased_until = case when $4 then now() + interval '1 hour' end
     where key = $1 returning id`,
    [
      `send_key_email:${transactionId}`,
      state.attempts ?? 0,
      state.error ?? null,
      state.running ?? false,
    ],
  );
  return String(rows[0]?.id);
}

describe('jobs', () => {
  beforeEach(async () => {
    await pool.query('truncate jobs');
    await emptyAuditLog(pool);
    clock.set(TEST_START);
  });

  test('lists jobs by state, kind and text, without periodic tasks', async () => {
    const failed = await addJob('txn_1', { attempts: 3, error: 'the relay is down' });
    await addJob('txn_2', { attempts: 1, error: 'the relay is down' });
    await addJob('txn_3', { attempts: 1, running: true });
    await addJob('txn_4');
    await scheduleSingletons(pool, ['tidy_up'], []);
    assert.deepEqual(await countJobs(pool), { open: 3, failed: 1 });
    const all = await readItems('jobs?sort=created_at');
    assert.deepEqual(
      all.map(({ key, state }) => [key, state]),
      [
        ['send_key_email:txn_1', 'failed'],
        ['send_key_email:txn_2', 'retrying'],
        ['send_key_email:txn_3', 'running'],
        ['send_key_email:txn_4', 'waiting'],
      ],
    );
    const { created_at: createdAt, ...shown } = all[0] ?? {};
    assert.ok(typeof createdAt === 'string');
    assert.deepEqual(shown, {
      id: failed,
      name: 'send_key_email',
      key: 'send_key_email:txn_1',
      payload: { provider: 'paddle', transactionId: 'txn_1' },
      state: 'failed',
      attempts: 3,
      max_attempts: 3,
      next_at: null,
      failed_at: null,
      last_error: 'the relay is down',
    });
    for (const [query, number] of [
      ['state=failed', 1],
      ['state=waiting', 1],
      ['name=send_key_email', 4],
      ['name=other', 0],
      ['search=TXN_2', 1],
      ['search=relay', 2],
      ['search=%25', 0],
    ]) {
      assert.equal((await readItems(`jobs?${query}`)).length, number, String(query));
    }
  });

  test('pages', async () => {
    for (const number of [1, 2, 3]) await addJob(`txn_${number}`);
    const first = await read('jobs?sort=-created_at&limit=2');
    assert.ok(Array.isArray(first['items']) && typeof first['next_cursor'] === 'string');
    const rest = await readItems(`jobs?sort=-created_at&limit=2&cursor=${first['next_cursor']}`);
    assert.deepEqual(
      [...first['items'], ...rest].map(({ key }) => key),
      ['send_key_email:txn_3', 'send_key_email:txn_2', 'send_key_email:txn_1'],
    );
  });

  test('exports the filter as CSV, with a fresh proof and an audit entry', async () => {
    for (const number of [1, 2, 3]) await addJob(`txn_${number}`);
    const path = '/api/v1/admin/jobs/export?sort=created_at&state=waiting';
    assert.equal((await viewer.get(path)).status, 403);
    const stale = await openBrowser(service, 'support');
    clock.advance(600 * SECOND_MS);
    assert.deepEqual((await stale.get(path)).body, problem('fresh_proof_required'));
    clock.set(TEST_START);
    const support = await openBrowser(service, 'support');
    const { text } = await support.get(path);
    const lines = text.split('\r\n');
    assert.equal(
      lines[0],
      'id,name,key,state,attempts,max_attempts,created_at,next_at,failed_at,last_error',
    );
    assert.match(lines[1] ?? '', /^\d+,send_key_email,send_key_email:txn_1,waiting,0,3,/u);
    assert.equal(lines.length, 5);
    const { rows } = await pool.query(
      `select actor, subject_id, reason, details from audit_log where action = 'job.export'`,
    );
    const details = { state: 'waiting' };
    const actor = `operator:${support.email}`;
    assert.deepEqual(rows, [{ actor, subject_id: 'jobs', reason: null, details }]);
  });

  test('retries one job, and records who and why', async () => {
    const id = await addJob('txn_1', { attempts: 3 });
    const answer = await admin.post(`/api/v1/admin/jobs/${id}/retry`, { reason: 'relay is back' });
    assert.deepEqual([answer.status, answer.body], [200, { retried: 1 }]);
    assert.deepEqual(
      (await readItems('jobs')).map(({ state, attempts }) => [state, attempts]),
      [['waiting', 0]],
    );
    const { rows } = await pool.query(
      `select actor, action, subject_id, reason, details from audit_log where action like 'jobs.%'`,
    );
    assert.deepEqual(rows, [
      {
        actor: `operator:${admin.email}`,
        action: 'jobs.retry',
        subject_id: id,
        reason: 'relay is back',
        details: { retried: 1 },
      },
    ]);
  });

  test('retries every failed job', async () => {
    await addJob('txn_1', { attempts: 3 });
    await addJob('txn_2', { attempts: 3 });
    await addJob('txn_3', { attempts: 1 });
    const answer = await admin.post('/api/v1/admin/jobs/retry-failed', {});
    assert.deepEqual([answer.status, answer.body], [200, { retried: 2 }]);
    assert.equal((await readItems('jobs?state=failed')).length, 0);
  });

  test('rejects a retry of a running or unknown job (409)', async () => {
    const running = await addJob('txn_1', { attempts: 1, running: true });
    for (const id of [running, '999999999', 'x', '-1']) {
      const { status, body } = await admin.post(`/api/v1/admin/jobs/${id}/retry`, {});
      const detail = 'There is no such job any more, or it is running.';
      assert.deepEqual([status, body], [409, problem('not_possible', { detail })], id);
    }
    const { rows } = await pool.query(`select from audit_log where action like 'jobs.%'`);
    assert.equal(rows.length, 0);
  });
});

test('GET /tasks lists the tasks of the process and of all processes', async () => {
  const task: BackgroundTask = {
    name: 'sweep',
    scope: 'process',
    event: 'test.sweep',
    action: 'sweep',
    intervalMs: 60_000,
    run: async () => {},
  };
  context.taskStatuses.declare([
    task,
    { ...task, name: 'tidy_up', scope: 'singleton', action: 'tidy up' },
    { ...task, name: 'off', scope: 'singleton', isEnabled: false },
  ]);
  context.taskStatuses.started('sweep');
  context.taskStatuses.finished('sweep', 12.4, new Error('full'));
  context.taskStatuses.scheduled('sweep', 60_000);
  await pool.query('truncate jobs');
  await scheduleSingletons(pool, ['tidy_up'], ['off']);
  await pool.query(
    `update jobs set finished_at = '2027-03-01T11:00:00Z', took_ms = 7, run_at = '2027-03-01T11:01:00Z'`,
  );
  const { rows } = await pool.query<{ id: number }>('select id from jobs');
  const items = await readItems('tasks');
  assert.deepEqual(items.slice(0, 2), [
    {
      name: 'sweep',
      action: 'sweep',
      scope: 'process',
      state: 'failing',
      interval_seconds: 60,
      last_finished_at: TEST_START.toISOString(),
      last_took_ms: 12,
      last_failed_at: TEST_START.toISOString(),
      last_error: 'full',
      next_at: new Date(TEST_START.getTime() + 60 * SECOND_MS).toISOString(),
      job_id: null,
    },
    {
      name: 'tidy_up',
      action: 'tidy up',
      scope: 'singleton',
      state: 'waiting',
      interval_seconds: 60,
      last_finished_at: '2027-03-01T11:00:00.000Z',
      last_took_ms: 7,
      last_failed_at: null,
      last_error: null,
      next_at: '2027-03-01T11:01:00.000Z',
      job_id: String(rows[0]?.id),
    },
  ]);
  assert.equal(items[2]?.['state'], 'disabled');
  const support = await openBrowser(service, 'support');
  const { text } = await support.get('/api/v1/admin/tasks/export');
  const now = TEST_START.toISOString();
  assert.deepEqual(text.split('\r\n').slice(0, 2), [
    'name,action,scope,state,interval_seconds,last_finished_at,last_took_ms,last_failed_at,last_error,next_at,job_id',
    `sweep,sweep,process,failing,60,${now},12,${now},full,${String(items[0]?.['next_at'])},`,
  ]);
  const { rows: entries } = await pool.query(
    `select actor from audit_log where action = 'task.export'`,
  );
  assert.deepEqual(entries, [{ actor: `operator:${support.email}` }]);
});

test('GET /health reports checks, backlog, queues, database and disk', async () => {
  const health = await read('health');
  assert.deepEqual([health['status'], health['version']], ['healthy', '1.0.0']);
  assert.equal(health['started_at'], TEST_START.toISOString());
  assert.equal(health['node_version'], process.versions.node);
  assert.equal(readBody(readBody(health['checks'])['jobs'])['status'], 'healthy');
  assert.equal(readBody(health['backlog'])['jobs_failed'], 0);
  assert.deepEqual(
    [health['queues']].flat().map((queue) => readBody(queue)['waiting']),
    [0, 0, 0, 0],
  );
  const database = readBody(health['database']);
  assert.ok(Number(database['bytes']) > 1_000_000);
  assert.ok(Number(database['connections']) >= 1);
  const tables = [database['tables']].flat().map((table) => readBody(table)['name']);
  assert.ok(tables.length === 12 && tables.includes('audit_log'), String(tables));
  const disk = readBody(health['disk']);
  assert.equal(disk['path'], directory);
  assert.ok(Number(disk['total_bytes']) >= Number(disk['free_bytes']));
});

async function examine(): Promise<Readonly<Record<string, unknown>>> {
  const answer = await viewer.post('/api/v1/admin/doctor');
  assert.equal(answer.status, 200, answer.text);
  return readBody(answer.body);
}

describe('POST /doctor', () => {
  test('returns the findings of doctor, each problem with cause and fix', async () => {
    clock.set(TEST_START);
    await pool.query('truncate jobs');
    await addJob('txn_1', { attempts: 3 });
    const { checked_at: checkedAt, healthy, findings } = await examine();
    assert.deepEqual([checkedAt, healthy], [TEST_START.toISOString(), true]);
    assert.ok(Array.isArray(findings));
    assert.deepEqual(
      findings.find(({ check }) => check === 'jobs'),
      {
        check: 'jobs',
        status: 'warning',
        code: 'jobs.failed',
        symptom: 'Failed jobs: 1. Their work was not done.',
        cause: 'Each job exhausted its retries; latchkey jobs list shows the last error.',
        fix: 'Remove the cause, then run latchkey jobs retry --all.',
      },
    );
    const checks = new Set(findings.map(({ check }) => check));
    for (const check of ['configuration', 'catalogue', 'disk space', 'database', 'audit log']) {
      assert.ok(checks.has(check), check);
    }
    assert.ok(!checks.has('port'));
  });

  test('runs at most once in ten seconds', async () => {
    clock.set(new Date(TEST_START.getTime() + 60 * SECOND_MS));
    const first = await examine();
    clock.advance(9 * SECOND_MS);
    assert.deepEqual(await examine(), first);
    clock.advance(2 * SECOND_MS);
    assert.notEqual((await examine())['checked_at'], first['checked_at']);
    clock.set(TEST_START);
  });
});

describe('GET /catalog', () => {
  test('shows products, prices and whether their provider is configured', async () => {
    const catalog = await read('catalog');
    assert.deepEqual(
      [catalog['file'], catalog['problems'], catalog['is_outdated']],
      [catalogFile, [], false],
    );
    assert.deepEqual(catalog['products'], [
      {
        id: 'solo',
        name: 'Solo',
        product_type: 'solo',
        tier: 'solo',
        features: ['history'],
        max_activations: 2,
        duration_days: null,
        updates_days: null,
        quantity: 'machines',
        keys: 'generated',
        offline_days: 14,
        airgap_days: null,
        moves: { extra: 3, days: 30 },
        prices: [
          { provider: 'paddle', price_id: 'pri_1' },
          { provider: 'paddle', price_id: 'pri_2' },
          { provider: 'stripe', price_id: 'price_1' },
        ],
        updates_prices: [],
        is_trial: true,
      },
    ]);
    assert.deepEqual([catalog['providers']].flat().slice(0, 2), [
      { provider: 'paddle', prices: 2, is_configured: true, setting: 'LATCHKEY_BILLING_SECRETS' },
      { provider: 'stripe', prices: 1, is_configured: false, setting: 'LATCHKEY_STRIPE_SECRETS' },
    ]);
  });

  test('reports a changed file, and the problems of an invalid one at their fields', async () => {
    writeFileSync(catalogFile, CATALOG.replace('name: Solo', 'name: Single'));
    assert.equal((await read('catalog'))['is_outdated'], true);
    writeFileSync(catalogFile, CATALOG.replace('max_activations: 2', 'max_activations: 0'));
    const { problems, is_outdated: isOutdated } = await read('catalog');
    assert.equal(isOutdated, false);
    assert.deepEqual(problems, [
      {
        line: 8,
        path: 'products[0].max_activations',
        message: 'products[0].max_activations must be a whole number from 1 to 1000000',
      },
    ]);
    rmSync(catalogFile);
    const [missing] = [(await read('catalog'))['problems']].flat().map(readBody);
    assert.deepEqual([missing?.['line'], missing?.['path']], [null, null]);
    assert.match(String(missing?.['message']), /cannot be read/u);
    writeFileSync(catalogFile, CATALOG);
  });
});

test('GET /settings lists settings of the start', async () => {
  assert.deepEqual(await read('settings'), { items: [], warnings: [] });
});
