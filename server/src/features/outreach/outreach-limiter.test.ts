import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';

import { OutreachLimiter } from './outreach-limiter.ts';

/** Runs a request that never ends. */
function occupy(limiter: OutreachLimiter): void {
  void limiter.run(() => new Promise(() => {}));
}

const never = async (): Promise<never> => assert.fail('it must not run');

test('rejects requests beyond the queue at once and those that wait too long, with Retry-After', async () => {
  const limiter = new OutreachLimiter({ maxConcurrent: 1, maxWaiting: 1, maxWaitMs: 20 });
  occupy(limiter);
  const waiting = limiter.run(never);
  assert.equal(limiter.queued, 1);
  const overloaded = { code: 'overloaded', headers: { 'retry-after': '10' } };
  await assert.rejects(limiter.run(never), overloaded);
  await assert.rejects(waiting, overloaded);
  assert.equal(limiter.queued, 0);
});

test('ends a request at its deadline, or as interrupted when the service stops', async () => {
  const limiter = new OutreachLimiter({ totalMs: 20 });
  const late = limiter.startDeadline();
  await once(late.signal, 'abort');
  assert.equal(late.reason(), 'deadline');
  const stopped = new OutreachLimiter();
  const { signal, reason } = stopped.startDeadline();
  assert.equal(signal.aborted, false);
  stopped.stop();
  assert.deepEqual([signal.aborted, reason()], [true, 'interrupted']);
});

test('rejects waiting and later requests when the service stops', async () => {
  const limiter = new OutreachLimiter({ maxConcurrent: 1, maxWaiting: 1 });
  occupy(limiter);
  const waiting = limiter.run(never);
  limiter.stop();
  await assert.rejects(waiting, { code: 'draining' });
  await assert.rejects(limiter.run(never), { code: 'draining' });
});
