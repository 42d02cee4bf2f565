import assert from 'node:assert/strict';
import { test } from 'node:test';

import { activated, KEY, openClient } from '../../test/open-client.ts';
import { connectionRefused, json, problem } from '../../test/scripted-service.ts';
import { purchaseWaitMs } from '../checks/wait.ts';

test('waits for the license of a purchase, over failures of the network, and activates it', async (t) => {
  const { client, service } = await openClient();
  let asked = 0;
  let activations = 0;
  service.answer(({ path }) => {
    if (path.endsWith('/activate')) {
      activations += 1;
      return activations === 1 ? connectionRefused() : activated();
    }
    asked += 1;
    if (asked === 2) return new TypeError('Failed to fetch');
    return json({
      status: asked < 4 ? 'pending' : 'active',
      licenses: asked < 4 ? [] : [{ license_key: KEY }],
    });
  });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const progress = { isOver: false };
  const bought = client.afterPurchase('txn_1').finally(() => {
    progress.isOver = true;
  });
  while (!progress.isOver) {
    t.mock.timers.tick(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(await bought, { ok: true });
  assert.deepEqual([asked, activations], [5, 2]);
  assert.equal(client.state.mayRun, true);
});

test('ends when the program wants no longer', async () => {
  const { client, service } = await openClient();
  const stop = new AbortController();
  service.answer(() => {
    stop.abort();
    return json({ status: 'pending' });
  });
  const result = await client.afterPurchase('txn_1', { signal: stop.signal });
  assert.deepEqual(result, { ok: false, code: 'aborted' });
  assert.equal(service.requests.length, 1);
});

test('ends with a refusal, and with a license whose key is not shown', async () => {
  const { client, service } = await openClient();
  service.answer(() => problem(404, 'not_found'));
  assert.deepEqual(await client.afterPurchase('txn_1'), { ok: false, code: 'not_found' });
  service.answer(() => json({ status: 'active', license_key: null, licenses: [] }));
  assert.deepEqual(await client.afterPurchase('txn_1'), { ok: false, code: 'key_not_shown' });
  service.answer(() => json({ status: 'pending' }));
  const late = await client.afterPurchase('txn_1', { timeoutMs: 0 });
  assert.deepEqual(late, { ok: false, code: 'purchase_pending' });
  service.answer(connectionRefused);
  const unanswered = await client.afterPurchase('txn_1', { timeoutMs: 0 });
  assert.deepEqual(unanswered, { ok: false, code: 'purchase_pending' });
});

test('asks less often with time', () => {
  assert.deepEqual([0, 1, 20].map(purchaseWaitMs), [2_000, 2_600, 15_000]);
});
