import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { namedSchemas } from '@latchkey/contract';
import { fastify } from 'fastify';
import { pino } from 'pino';
import type { Backlog } from './count-backlog.ts';
import type { HealthDependencies } from './dependencies.ts';
import { createHealth } from './check-health.ts';
import { registerHealthRoutes } from './routes.ts';

/** Sets up a healthy process with the given exceptions; `time.ms` is its clock. */
function setUp(overrides: Partial<HealthDependencies> = {}) {
  const time = { ms: 90_500 };
  const pings = { count: 0 };
  const health: HealthDependencies = {
    clock: { now: () => new Date(time.ms) },
    startedAt: new Date(0),
    version: '1.2.3',
    log: pino({ level: 'silent' }),
    pingDatabase: async () => {
      pings.count += 1;
    },
    migrationsPending: () => false,
    readBacklog: async () => WELL,
    isDiskLow: () => false,
    isDraining: () => false,
    readLoadState: () => 'normal',
    ...overrides,
  };
  const app = fastify().withTypeProvider<TypeBoxTypeProvider>();
  for (const schema of namedSchemas) app.addSchema(schema);
  registerHealthRoutes(app, createHealth(health));
  const get = async (path: string) => {
    const response = await app.inject(`/api/v1/health${path}`);
    assert.equal(response.headers['cache-control'], 'no-store');
    return { code: response.statusCode, body: response.json<Record<string, unknown>>() };
  };
  return { get, time, pings };
}

const WELL: Backlog = {
  jobs: { open: 0, failed: 0 },
  events: { deferred: 0, failed: 0 },
  isReconciliationFailing: false,
  undelivered: { keyEmails: 0, deliveries: 0, endpoints: 0 },
  freePoolKeys: {},
  revenue: { reports: 0, delaySeconds: 0, backfill: 0 },
};

const noDatabase = async () => {
  throw new Error('connect ECONNREFUSED 10.1.2.3:5432 user latchkey');
};

test('live reports that the process runs, without a ping', async () => {
  const { get, pings } = setUp({ isDraining: () => true });
  assert.deepEqual(await get('/live'), {
    code: 200,
    body: { status: 'alive', version: '1.2.3', uptime_seconds: 90 },
  });
  assert.equal(pings.count, 0);
});

test('is ready and healthy without problems', async () => {
  const { get } = setUp();
  const ready = await get('/ready');
  assert.deepEqual([ready.code, ready.body['status']], [200, 'ready']);
  const { code, body } = await get('');
  assert.equal(code, 200);
  const { checks, ...rest } = body;
  assert.deepEqual(rest, { status: 'healthy', version: '1.2.3', uptime_seconds: 90 });
  assert.match(
    JSON.stringify(checks),
    /^\{"database":\{"status":"healthy","latency_ms":[\d.]+\},"migrations":\{"status":"healthy"\},"jobs":\{"status":"healthy"\},"payments":\{"status":"healthy"\},"mail":\{"status":"healthy"\},"outgoing_webhooks":\{"status":"healthy"\},"load":\{"status":"healthy"\},"disk":\{"status":"healthy"\},"process":\{"status":"healthy"\}\}$/u,
  );
});

test('is not ready without a database, and reveals no internals', async () => {
  const { get } = setUp({ pingDatabase: noDatabase });
  const checks = {
    database: { status: 'unhealthy', latency_ms: null, message: 'The database does not answer.' },
    load: { status: 'healthy' },
    disk: { status: 'healthy' },
    process: { status: 'healthy' },
  };
  assert.deepEqual(await get('/ready'), { code: 503, body: { status: 'not_ready', checks } });
  assert.deepEqual(await get(''), {
    code: 503,
    body: { status: 'unhealthy', version: '1.2.3', uptime_seconds: 90, checks },
  });
});

test('is unhealthy when the database does not answer for two seconds', async () => {
  const startedAt = performance.now();
  const { get } = setUp({ pingDatabase: () => new Promise(() => {}) });
  assert.equal((await get('/ready')).code, 503);
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs >= 1_990 && tookMs < 20_000, `${tookMs} ms`);
});

for (const [why, overrides, name] of [
  ['migrations are pending', { migrationsPending: async () => true }, 'migrations'],
  ['the migrations cannot be read', { migrationsPending: noDatabase }, 'migrations'],
  ['most requests are refused', { readLoadState: () => 'refusing' as const }, 'load'],
  ['the process is stopping', { isDraining: () => true }, 'process'],
] as const) {
  test(`not ready when ${why}`, async () => {
    const { get } = setUp(Object.assign({}, overrides));
    const { code, body } = await get('/ready');
    assert.deepEqual([code, body['status']], [503, 'not_ready']);
    assert.match(JSON.stringify(body), new RegExp(`"${name}":\\{"status":"unhealthy"`, 'u'));
  });
}

for (const [why, check, backlog, message] of [
  [
    'a job exhausted its retries',
    'jobs',
    { jobs: { open: 0, failed: 1 } },
    '1 job exhausted its retries.',
  ],
  [
    'jobs exhausted their retries',
    'jobs',
    { jobs: { open: 0, failed: 7 } },
    '7 jobs exhausted their retries.',
  ],
  ['the jobs cannot be counted', 'jobs', null, 'The state of the jobs is unknown.'],
  [
    'payment events were not applied',
    'payments',
    { events: { deferred: 2, failed: 1 } },
    'Payment events that failed: 1. Payment events that wait for a retry: 2.',
  ],
  [
    "a provider's log cannot be read",
    'payments',
    { isReconciliationFailing: true },
    'Could not read the event log of Paddle or the sales of Gumroad.',
  ],
  [
    'e-mails with keys were not delivered',
    'mail',
    { undelivered: { keyEmails: 2, deliveries: 0, endpoints: 0 } },
    'E-mails with keys rejected permanently or not confirmed in the last week: 2.',
  ],
  ['e-mails cannot be counted', 'mail', null, 'The state of the e-mails with keys is unknown.'],
  [
    'endpoints did not receive their events',
    'outgoing_webhooks',
    { undelivered: { keyEmails: 0, deliveries: 3, endpoints: 1 } },
    'Endpoints disabled after failures: 1. Deliveries that exhausted their retries in the last week: 3.',
  ],
  [
    'payment events cannot be counted',
    'payments',
    null,
    'The state of the payment events is unknown.',
  ],
] as const) {
  test(`degraded and ready when ${why}`, async () => {
    const readBacklog = backlog === null ? noDatabase : async () => ({ ...WELL, ...backlog });
    const { get } = setUp({ readBacklog });
    assert.equal((await get('/ready')).code, 200);
    const { code, body } = await get('');
    assert.deepEqual([code, body['status']], [200, 'degraded']);
    const { checks } = body;
    assert.ok(typeof checks === 'object' && checks !== null);
    assert.deepEqual(Object.entries(checks).find(([name]) => name === check)?.[1], {
      status: 'degraded',
      message,
    });
  });
}

test('is degraded and ready while some requests are refused', async () => {
  const { get } = setUp({ readLoadState: () => 'overloaded' });
  const ready = await get('/ready');
  assert.deepEqual([ready.code, ready.body['status']], [200, 'ready']);
  const { code, body } = await get('');
  assert.deepEqual([code, body['status']], [200, 'degraded']);
  assert.match(JSON.stringify(body), /"load":\{"status":"degraded","message":"Some requests/u);
});

test('reports load at once', async () => {
  let state: 'normal' | 'refusing' = 'refusing';
  const { get } = setUp({ readLoadState: () => state });
  assert.equal((await get('/ready')).code, 503);
  state = 'normal';
  assert.equal((await get('/ready')).code, 200);
});

test('pings the database once per second', async () => {
  const { get, time, pings } = setUp();
  await Promise.all([get('/ready'), get(''), get('/ready')]);
  time.ms += 999;
  await get('/ready');
  assert.equal(pings.count, 1);
  time.ms += 1;
  await get('/ready');
  assert.equal(pings.count, 2);
});

test('reports draining at once', async () => {
  let draining = false;
  const { get } = setUp({ isDraining: () => draining });
  assert.equal((await get('/ready')).code, 200);
  draining = true;
  assert.equal((await get('/ready')).code, 503);
});

test('does not cache longer when the clock is set back', async () => {
  const { get, time, pings } = setUp();
  await get('/ready');
  time.ms -= 60_000;
  await get('/ready');
  assert.equal(pings.count, 2);
});
