import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from './metrics.ts';
import type { BacklogNumbers } from './metrics-gauges.ts';

/** The lines of a scrape with a prefix. */
async function linesOf(metrics: { render(): Promise<string> }, prefix: string): Promise<string[]> {
  return (await metrics.render()).split('\n').filter((line) => line.startsWith(prefix));
}

test('counts requests in cumulative buckets by route, method and status', async () => {
  const metrics = createMetrics({ version: '1.2.3' });
  for (const seconds of [0.0005, 0.003, 0.003, 60])
    metrics.observeRequest('/a', 'GET', 200, seconds);
  metrics.observeRequest('/a', 'GET', 404, 0.25);

  const name = 'latchkey_http_request_duration_seconds';
  const ok = 'route="/a",method="GET",status="200"';
  const lines = await linesOf(metrics, name);
  for (const [le, count] of [
    ['0.0005', 1],
    ['0.0025', 1],
    ['0.005', 3],
    ['10', 3],
    ['+Inf', 4],
  ]) {
    assert.ok(lines.includes(`${name}_bucket{le="${le}",${ok}} ${count}`), `le=${le}`);
  }
  assert.ok(lines.includes(`${name}_count{${ok}} 4`));
  assert.ok(lines.includes(`${name}_sum{${ok}} 60.0065`));
  assert.ok(lines.includes(`${name}_count{route="/a",method="GET",status="404"} 1`));
});

test('measures the size and duration of batches', async () => {
  const metrics = createMetrics({ version: '1' });
  metrics.observeBatch('validate', 3, 0.002);
  metrics.observeBatch('validate', 64, 0.004);
  const sizes = await linesOf(metrics, 'latchkey_batch_size');
  assert.ok(sizes.includes('latchkey_batch_size_bucket{le="4",batch="validate"} 1'));
  assert.ok(sizes.includes('latchkey_batch_size_sum{batch="validate"} 67'));
  const durations = await linesOf(metrics, 'latchkey_batch_duration_seconds_count');
  assert.deepEqual(durations, ['latchkey_batch_duration_seconds_count{batch="validate"} 2']);
});

test('reads queues and the database pool at each scrape', async () => {
  const metrics = createMetrics({ version: '1' });
  let depth = 0;
  metrics.setQueueDepth('validate', () => depth);
  metrics.setDatabasePool({ totalCount: 10, idleCount: 7, waitingCount: 2 });
  depth = 5;
  assert.deepEqual(await linesOf(metrics, 'latchkey_queue_depth'), [
    'latchkey_queue_depth{queue="validate"} 5',
  ]);
  assert.deepEqual(await linesOf(metrics, 'latchkey_database_pool'), [
    'latchkey_database_pool_connections{state="idle"} 7',
    'latchkey_database_pool_connections{state="used"} 3',
    'latchkey_database_pool_waiting 2',
  ]);
});

test('reads the backlog at each scrape, and reports none before it was counted', async () => {
  const metrics = createMetrics({ version: '1' });
  let backlog: BacklogNumbers | null = null;
  metrics.setBacklog(() => backlog);
  const scrape = () =>
    linesOf(metrics, 'latchkey_').then((lines) =>
      lines.filter((line) =>
        /^latchkey_(?:jobs|payment_events|undelivered|key_pool|revenue)/u.test(line),
      ),
    );
  assert.deepEqual(await scrape(), []);
  backlog = {
    jobs: { open: 1, failed: 2 },
    events: { deferred: 3, failed: 4 },
    undelivered: { keyEmails: 5, deliveries: 0, endpoints: 6 },
    freePoolKeys: { suite: 7, tool: 0 },
    revenue: { reports: 8, delaySeconds: 9.5, backfill: 10 },
  };
  assert.deepEqual(await scrape(), [
    'latchkey_jobs{state="open"} 1',
    'latchkey_jobs{state="failed"} 2',
    'latchkey_payment_events_unapplied{status="deferred"} 3',
    'latchkey_payment_events_unapplied{status="failed"} 4',
    'latchkey_undelivered{kind="key_emails"} 5',
    'latchkey_undelivered{kind="deliveries"} 0',
    'latchkey_undelivered{kind="endpoints"} 6',
    'latchkey_key_pool_free_keys{product="suite"} 7',
    'latchkey_key_pool_free_keys{product="tool"} 0',
    'latchkey_revenue_uncounted{kind="reports"} 8',
    'latchkey_revenue_uncounted{kind="backfill"} 10',
    'latchkey_revenue_delay_seconds 9.5',
  ]);
  backlog = { ...backlog, freePoolKeys: { tool: 3 } };
  assert.deepEqual(
    (await scrape()).filter((line) => line.includes('key_pool')),
    ['latchkey_key_pool_free_keys{product="tool"} 3'],
  );
});

test('counts refusals by operation and reason', async () => {
  const metrics = createMetrics({ version: '1' });
  metrics.countRefusal('activate', 'activation_limit_reached');
  metrics.countRefusal('activate', 'activation_limit_reached');
  assert.deepEqual(await linesOf(metrics, 'latchkey_refusals_total{'), [
    'latchkey_refusals_total{operation="activate",reason="activation_limit_reached"} 2',
  ]);
});

test('reports the build and the process', async () => {
  const metrics = createMetrics({ version: '1.2.3' });
  assert.deepEqual(await linesOf(metrics, 'latchkey_build_info{'), [
    `latchkey_build_info{version="1.2.3",node_version="${process.versions.node}"} 1`,
  ]);
  assert.equal((await linesOf(metrics, 'process_resident_memory_bytes ')).length, 1);
});

test('escapes labels', async () => {
  const metrics = createMetrics({ version: '1' });
  metrics.observeRequest('/a"\\\n', 'GET', 200, 1);
  const lines = await linesOf(metrics, 'latchkey_http_request_duration_seconds_count');
  assert.deepEqual(lines, [
    String.raw`latchkey_http_request_duration_seconds_count{route="/a\"\\\n",method="GET",status="200"} 1`,
  ]);
});

test('reports the load of the HTTP layer: one state at a time, and its memory', async () => {
  const metrics = createMetrics({ version: '1.2.3' });
  assert.deepEqual(await linesOf(metrics, 'latchkey_http_load_state{'), []);
  metrics.setHttpLoad(() => ({
    state: 'overloaded',
    memory: {
      usual: { usedBytes: 5, maxBytes: 100 },
      large: { usedBytes: 0, maxBytes: 50 },
    },
  }));
  metrics.countHttpLimited('memory');
  assert.deepEqual(await linesOf(metrics, 'latchkey_http_'), [
    'latchkey_http_limited_total{limit="memory"} 1',
    'latchkey_http_load_state{state="normal"} 0',
    'latchkey_http_load_state{state="overloaded"} 1',
    'latchkey_http_load_state{state="refusing"} 0',
    'latchkey_http_memory_bytes{bodies="usual"} 5',
    'latchkey_http_memory_bytes{bodies="large"} 0',
    'latchkey_http_memory_limit_bytes{bodies="usual"} 100',
    'latchkey_http_memory_limit_bytes{bodies="large"} 50',
  ]);
});

const at = (day: string) => new Date(`2026-11-${day}T00:00:00Z`);

test('reads the facts of an installation at each scrape, and nothing while they are unknown', async () => {
  const metrics = createMetrics({ version: '1' });
  let lastBackupAt: Date | null = null;
  let isKnown = false;
  const whenKnown =
    <Value>(read: () => Value) =>
    () =>
      isKnown ? read() : null;
  metrics.setInstallation(
    whenKnown(() => ({ databaseBytes: 5e9, lastBackupAt, eventPartitionsUntil: at('30') })),
  );
  metrics.setLicenses(whenKnown(() => ({ active: 3, expired: 0 })));
  metrics.setFreeDisk(whenKnown(() => 1_048_576));
  let retiredAt: Date | null = null;
  metrics.setSigningKey(whenKnown(() => ({ activeFrom: at('01'), retiredAt })));
  const read = async () => {
    const names = /^latchkey_(?:database_size|backup|event_partitions|licenses|disk|signing_key)/u;
    return (await linesOf(metrics, 'latchkey_')).filter((line) => names.test(line));
  };
  assert.deepEqual(await read(), []);

  isKnown = true;
  const known = [
    'latchkey_database_size_bytes 5000000000',
    'latchkey_event_partitions_until_timestamp_seconds 1795996800',
    'latchkey_licenses{status="active"} 3',
    'latchkey_licenses{status="expired"} 0',
    'latchkey_disk_free_bytes 1048576',
    'latchkey_signing_key_active_from_timestamp_seconds 1793491200',
  ];
  assert.deepEqual(await read(), known);

  lastBackupAt = at('02');
  retiredAt = at('03');
  assert.deepEqual(
    new Set(await read()),
    new Set([
      ...known,
      'latchkey_backup_last_success_timestamp_seconds 1793577600',
      'latchkey_signing_key_retires_timestamp_seconds 1793664000',
    ]),
  );
});
