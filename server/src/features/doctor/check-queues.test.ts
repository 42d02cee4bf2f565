import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { addJobs } from '#server/jobs/add-jobs.ts';

import { openTestPool } from '../../../test/database-pool.ts';
import { checkEndpoints, checkJobs } from './check-queues.ts';

const pool = await openTestPool();

beforeEach(async () => {
  await pool.query('truncate webhook_endpoints, webhook_messages, webhook_deliveries, jobs');
});

const noneRefused = async () => false;

/** Each endpoint is added a second after the previous one. */
let addedAtMs = Date.UTC(2027, 1, 1);

async function insertEndpoint(url: string, standing: Record<string, string> = {}): Promise<void> {
  const names = ['id', 'url', 'secret_sealed', 'created_at', ...Object.keys(standing)];
  const values = names.map((_, index) => `$${index + 1}`);
  await pool.query(
    `insert into webhook_endpoints (${names.join(', ')}) values (${values.join(', ')})`,
    [
      crypto.randomUUID(),
      url,
      Buffer.alloc(1),
      new Date((addedAtMs += 1_000)),
      ...Object.values(standing),
    ],
  );
}

test('finds no problem without endpoints and with active endpoints', async () => {
  const statuses = [await checkEndpoints(pool, noneRefused)];
  await insertEndpoint('https://a.example.com/');
  statuses.push(await checkEndpoints(pool, noneRefused));
  assert.deepEqual(
    statuses.flat().map(({ check, status }) => [check, status]),
    [
      ['outgoing webhooks', 'ok'],
      ['outgoing webhooks', 'ok'],
    ],
  );
});

test('names enabled endpoints whose address is refused', async () => {
  await insertEndpoint('http://127.0.0.1:9000/hook');
  await insertEndpoint('https://a.example.com/');
  const at = { disabled_at: '2027-03-01T12:00:00Z', disabled_reason: 'operator' };
  await insertEndpoint('http://127.0.0.2/hook', at);
  const findings = await checkEndpoints(pool, async ({ hostname }) => hostname.startsWith('127.'));
  assert.deepEqual(
    findings.map(({ status, code, symptom }) => [status, code, symptom.split(' ')[0]]),
    [['warning', 'endpoint.address_refused', '127.0.0.1:9000']],
  );
  assert.match(findings[0]?.fix ?? '', /LATCHKEY_WEBHOOK_ALLOWED_NETWORKS/);
});

test('reports failing and automatically disabled endpoints, but not those that an operator disabled', async () => {
  const at = '2027-03-01T12:00:00Z';
  await insertEndpoint('https://a.example.com/', { failing_since: at });
  await insertEndpoint('https://b.example.com/', { disabled_at: at, disabled_reason: 'gone' });
  await insertEndpoint('https://c.example.com/', { disabled_at: at, disabled_reason: 'failing' });
  await insertEndpoint('https://d.example.com/', { disabled_at: at, disabled_reason: 'operator' });
  const findings = await checkEndpoints(pool, noneRefused);
  assert.deepEqual(
    findings.map(({ status, code, symptom, facts }) => [
      status,
      symptom.split(' ')[0],
      code,
      facts?.['reason'],
    ]),
    [
      ['warning', 'a.example.com', 'endpoint.failing', undefined],
      ['warning', 'b.example.com', 'endpoint.disabled', 'gone'],
      ['warning', 'c.example.com', 'endpoint.disabled', 'failing'],
    ],
  );
});

test('counts failed deliveries', async () => {
  await insertEndpoint('https://a.example.com/');
  await pool.query(
    `insert into webhook_deliveries (message_id, endpoint_id, type, created_at, state)
     select 'msg_' || number, id, 'license.created', now(), 'failed' from webhook_endpoints, generate_series(1, 3) as number`,
  );
  const [finding] = await checkEndpoints(pool, noneRefused);
  assert.deepEqual([finding?.code, finding?.facts], ['deliveries.failed', { deliveries: 3 }]);
});

test('counts jobs that exhausted their retries', async () => {
  const first = await checkJobs(pool);
  const payload = { provider: 'paddle', transactionId: 'txn_1' };
  await addJobs(pool, [{ name: 'send_key_email', payload, maxAttempts: 1 }]);
  await pool.query('update jobs set attempts = max_attempts');
  const finding = await checkJobs(pool);
  assert.deepEqual([first.status, finding.code, finding.facts], ['ok', 'jobs.failed', { jobs: 1 }]);
});
