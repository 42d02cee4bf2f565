import assert from 'node:assert/strict';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { currentActor } from './actor.ts';
import { runLatchkey, type CommandRun } from '../../test/command-line.ts';
import { startTestService, TEST_MASTER_SECRET } from '../../test/harness.ts';
import {
  answerJson,
  answerLog,
  startPaddleApiStub,
} from '../../test/payment-providers/paddle-api-stub.ts';
import {
  paddleId,
  paddleTransactionCompleted,
  type PaddleEvent,
} from '../../test/payment-providers/paddle-events.ts';
import { deliverPaddle } from '../../test/payment-providers/paddle-steps.ts';
import { TEST_PRICES } from '../../test/test-catalog.ts';
import { HOUR_MS } from '../../test/test-clock.ts';

const log: PaddleEvent[] = [];
const paddle = await startPaddleApiStub();
paddle.answer = answerLog(log);

const service = await startTestService();
const directory = await mkdtemp(join(tmpdir(), 'latchkey-reconcile-'));
const catalog = join(directory, 'catalog.yaml');
await copyFile(new URL('../../../catalog.example.yaml', import.meta.url), catalog);
after(async () => {
  await rm(directory, { recursive: true });
});

const settings = {
  DATABASE_URL: service.database.url,
  LATCHKEY_SECRET: TEST_MASTER_SECRET,
  LATCHKEY_CATALOG: catalog,
  LATCHKEY_PADDLE_API_KEY: 'pdl_live_key',
  LATCHKEY_PADDLE_API_URL: paddle.url,
};

function reconcile(args: readonly string[] = [], changed = {}): Promise<CommandRun> {
  const run = ['webhook', 'reconcile', ...args];
  return runLatchkey(run, { directory, settings: { ...settings, ...changed } });
}

function purchase(hoursAgo: number): PaddleEvent {
  const event = paddleTransactionCompleted({
    eventId: paddleId('evt'),
    transactionId: paddleId('txn'),
    lines: [{ priceId: TEST_PRICES.personal }],
    occurredAt: new Date(Date.now() - hoursAgo * HOUR_MS),
  });
  log.push(event);
  return event;
}

test('fails without an API key, and without an event to start from', async () => {
  const noKey = await reconcile([], { LATCHKEY_PADDLE_API_KEY: '' });
  assert.deepEqual([noKey.code, noKey.stdout], [1, '']);
  assert.match(noKey.stderr, /set LATCHKEY_PADDLE_API_KEY/u);
  const nowhere = await reconcile();
  assert.deepEqual([nowhere.code, nowhere.stdout], [1, '']);
  assert.match(nowhere.stderr, /--since/u);
});

test('applies missing events, and records the actor', async () => {
  const [, , first, lost] = [purchase(9), purchase(8), purchase(7), purchase(6)];
  assert.ok(first !== undefined && lost !== undefined);
  await deliverPaddle(service, first);
  const { code, stdout, stderr } = await reconcile();
  assert.equal(code, 0, stderr);
  const line = new RegExp(`^${lost.event_id} +transaction.completed +processed$`, 'mu');
  assert.match(stdout, line);
  assert.equal(await service.count('licenses'), 2);
  const again = await reconcile(['--json']);
  assert.deepEqual(JSON.parse(again.stdout), { compared: 0, repaired: [] });
  const { rows } = await service.pool.query(
    `select actor, details from audit_log where action = 'webhook.reconcile'`,
  );
  const actor = currentActor();
  assert.deepEqual(rows, [{ actor, details: { repaired: 1 } }]);
});

test('compares from --since on, even before the first received event', async () => {
  const since = new Date(Date.now() - 8.5 * HOUR_MS).toISOString();
  const { code, stdout, stderr } = await reconcile(['--since', since, '--json']);
  assert.equal(code, 0, stderr);
  const repaired = [
    { event_id: log[1]?.event_id, type: 'transaction.completed', status: 'processed' },
  ];
  assert.deepEqual(JSON.parse(stdout), { compared: 3, repaired });
  assert.equal(await service.count('licenses'), 3);
});

test('reports why the log cannot be read, without the API key', async () => {
  paddle.answer = answerJson(403, {});
  const { code, stdout, stderr } = await reconcile();
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /\b403\b/u);
  assert.doesNotMatch(stderr, /pdl_live_key/u);
});
