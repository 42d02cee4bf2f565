import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Webhook } from 'standardwebhooks';
import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { createPool } from '#server/db/pool.ts';
import { createLog } from '#server/log.ts';

import { createTestDatabase } from '../database.ts';
import { createServiceHome } from '../service-process.ts';
import { ALLOW_LOCAL_RECEIVERS, startWebhookReceiver } from '../webhook-receiver.ts';

const WithSecret = Type.Object({ secret: Type.String() });

test('a service that is killed between sending and recording repeats the message with its id', async () => {
  const database = await createTestDatabase();
  await using receiver = await startWebhookReceiver();
  await using home = await createServiceHome();
  const settings = {
    DATABASE_URL: database.url,
    LATCHKEY_SECRET: 'a-secret-for-the-test-of-a-killed-sender',
    ...ALLOW_LOCAL_RECEIVERS,
  };
  const added = await home.run(['endpoint', 'add', receiver.url, '--json'], settings);
  const { secret } = Parse(WithSecret, JSON.parse(added));
  await home.run(['license', 'issue', '--product', 'personal'], settings);

  // The receiver has the message, but the service gets no response.
  receiver.answer(() => {});
  const killed = await home.start(settings);
  await receiver.waitFor(1);
  assert.deepEqual(await killed.stop('SIGKILL'), { code: null, signal: 'SIGKILL' });

  receiver.answer(204);
  const pool = createPool(database.connection, {
    maxConnections: 1,
    log: createLog({ level: 'silent' }),
  });
  // After a minute the claim of the killed process expires.
  const { rowCount } = await pool.query(
    `update webhook_deliveries set next_attempt_at = next_attempt_at - interval '1 minute'
     where state = 'pending' and attempts = 1`,
  );
  assert.equal(rowCount, 1);
  const next = await home.start(settings);
  await receiver.waitFor(2);
  assert.deepEqual(await next.stop(), { code: 0, signal: null });
  const { rows } = await pool.query('select state, attempts, last_status from webhook_deliveries');
  assert.deepEqual(rows, [{ state: 'delivered', attempts: 2, last_status: 204 }]);
  await pool.end();

  const [first, second] = receiver.received;
  assert.equal(second?.headers['webhook-id'], first?.headers['webhook-id']);
  assert.equal(second?.body, first?.body);
  for (const { headers, body } of receiver.received) {
    const signed = {
      'webhook-id': String(headers['webhook-id']),
      'webhook-timestamp': String(headers['webhook-timestamp']),
      'webhook-signature': String(headers['webhook-signature']),
    };
    assert.deepEqual(new Webhook(secret).verify(body, signed), JSON.parse(body));
  }
  await database.drop();
});
