import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { openTestPool } from '../../../test/database-pool.ts';
import { checkEndpoints } from './check-queues.ts';

const pool = await openTestPool();

beforeEach(async () => {
  await pool.query('truncate webhook_endpoints, webhook_messages, webhook_deliveries');
});

/** Each endpoint is added a second after the one before. */
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

test('nothing is amiss without endpoints, and with those that are told', async () => {
  const symptoms = [await checkEndpoints(pool)];
  await insertEndpoint('https://a.example.com/');
  symptoms.push(await checkEndpoints(pool));
  assert.deepEqual(symptoms, [
    [{ check: 'outgoing webhooks', status: 'ok', symptom: 'No endpoint is told anything.' }],
    [{ check: 'outgoing webhooks', status: 'ok', symptom: '1 told of events.' }],
  ]);
});

test('an endpoint that fails, or was disabled for it, is told of with its cause; one that an operator disabled is not', async () => {
  const at = '2027-03-01T12:00:00Z';
  await insertEndpoint('https://a.example.com/', { failing_since: at });
  await insertEndpoint('https://b.example.com/', { disabled_at: at, disabled_reason: 'gone' });
  await insertEndpoint('https://c.example.com/', { disabled_at: at, disabled_reason: 'failing' });
  await insertEndpoint('https://d.example.com/', { disabled_at: at, disabled_reason: 'operator' });
  const findings = await checkEndpoints(pool);
  assert.deepEqual(
    findings.map(({ status, symptom, cause }) => [status, symptom.split(' ')[0], cause]),
    [
      ['warning', 'a.example.com', 'Every delivery has failed since 2027-03-01 12:00 UTC.'],
      [
        'warning',
        'b.example.com',
        'It answered 410 Gone, and was disabled at 2027-03-01 12:00 UTC.',
      ],
      [
        'warning',
        'c.example.com',
        'It only failed for five days, and was disabled at 2027-03-01 12:00 UTC.',
      ],
    ],
  );
});

test('deliveries that were given up are counted', async () => {
  await insertEndpoint('https://a.example.com/');
  await pool.query(
    `insert into webhook_deliveries (message_id, endpoint_id, state)
     select 'msg_' || number, id, 'failed' from webhook_endpoints, generate_series(1, 3) as number`,
  );
  const [finding] = await checkEndpoints(pool);
  const cause =
    'Deliveries that failed for good: 3. Each was tried in vain for three days, or answered 410 Gone.';
  assert.equal(finding?.cause, cause);
});
