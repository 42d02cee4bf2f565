import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { runLatchkey, type CommandRun } from '../../test/command-line.ts';
import { startTestService, TEST_MASTER_SECRET, TEST_WEBHOOK_SECRETS } from '../../test/harness.ts';
import {
  paddleDelivery,
  paddleId,
  paddleTransactionCompleted,
  type PaddleEvent,
} from '../../test/paddle-events.ts';
import { HOUR_MS } from '../../test/test-clock.ts';

/** Of the example catalogue. */
const PRICE = 'pri_01aaaaaaaaaaaaaaaaaaaaaaaa';

const log: PaddleEvent[] = [];
let status = 200;
const paddle = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://localhost');
  const start = log.findIndex(({ event_id: id }) => id === searchParams.get('after')) + 1;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ data: log.slice(start, start + 2) }));
}).listen(0, '127.0.0.1');
await once(paddle, 'listening');
const address = paddle.address();
assert.ok(address !== null && typeof address === 'object');

const service = await startTestService();
const directory = await mkdtemp(join(tmpdir(), 'latchkey-reconcile-'));
const catalog = join(directory, 'catalog.yaml');
await copyFile(new URL('../../../catalog.example.yaml', import.meta.url), catalog);
after(async () => {
  paddle.close();
  await rm(directory, { recursive: true });
});

const settings = {
  DATABASE_URL: service.database.url,
  LATCHKEY_SECRET: TEST_MASTER_SECRET,
  LATCHKEY_CATALOG: catalog,
  LATCHKEY_PADDLE_API_KEY: 'pdl_live_key',
  LATCHKEY_PADDLE_API_URL: `http://127.0.0.1:${address.port}`,
};

function reconcile(args: readonly string[] = [], changed = {}): Promise<CommandRun> {
  const run = ['webhook', 'reconcile', ...args];
  return runLatchkey(run, { directory, settings: { ...settings, ...changed } });
}

function purchase(hoursAgo: number): PaddleEvent {
  const event = paddleTransactionCompleted({
    eventId: paddleId('evt'),
    transactionId: paddleId('txn'),
    lines: [{ priceId: PRICE }],
    occurredAt: new Date(Date.now() - hoursAgo * HOUR_MS),
  });
  log.push(event);
  return event;
}

async function deliver(event: PaddleEvent): Promise<void> {
  const [secret = ''] = TEST_WEBHOOK_SECRETS.billing;
  const { body, headers } = paddleDelivery(event, { secret, at: service.clock.now() });
  assert.equal((await service.post('/api/v1/webhooks/billing', body, headers)).status, 200);
}

test('without a key for the interface, and without a place to begin at, it says what is missing', async () => {
  const noKey = await reconcile([], { LATCHKEY_PADDLE_API_KEY: '' });
  assert.deepEqual([noKey.code, noKey.stdout], [1, '']);
  assert.match(noKey.stderr, /without a key for its interface: set LATCHKEY_PADDLE_API_KEY/u);
  const nowhere = await reconcile();
  assert.deepEqual([nowhere.code, nowhere.stdout], [1, '']);
  assert.match(nowhere.stderr, /No event of Paddle has been received yet.* --since/u);
});

test('it applies what was missed, says so, and the audit log says who asked', async () => {
  const [, , first, lost] = [purchase(9), purchase(8), purchase(7), purchase(6)];
  assert.ok(first !== undefined && lost !== undefined);
  await deliver(first);
  const { code, stdout, stderr } = await reconcile();
  assert.equal(code, 0, stderr);
  const line = new RegExp(`^${lost.event_id} +transaction.completed +processed$`, 'mu');
  assert.match(stdout, /^1 event compared; 1 had never arrived:$/mu);
  assert.match(stdout, line);
  assert.equal(await service.count('licenses'), 2);
  assert.equal((await reconcile()).stdout, '0 events compared; none was missed.\n');
  const { rows } = await service.pool.query(
    `select actor, details from audit_log where action = 'webhook.reconcile'`,
  );
  const actor = `cli:${userInfo().username}`;
  assert.deepEqual(rows, [{ actor, details: { repaired: 1 } }]);
});

test('from a moment on, also before the first event that was received, and nothing before it', async () => {
  const since = new Date(Date.now() - 8.5 * HOUR_MS).toISOString();
  const { code, stdout, stderr } = await reconcile(['--since', since, '--json']);
  assert.equal(code, 0, stderr);
  const repaired = [
    { event_id: log[1]?.event_id, type: 'transaction.completed', status: 'processed' },
  ];
  assert.deepEqual(JSON.parse(stdout), { compared: 3, repaired });
  assert.equal(await service.count('licenses'), 3);
});

test('a log that cannot be read is one sentence with the reason', async () => {
  status = 403;
  const { code, stdout, stderr } = await reconcile();
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /Paddle's log cannot be read: Paddle answers 403\./u);
  assert.doesNotMatch(stderr, /pdl_live_key/u);
});
