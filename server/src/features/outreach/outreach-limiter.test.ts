import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';

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

/** Handles a request until its end; returns the reason. */
function handleUntilEnd(limiter: OutreachLimiter): Promise<string> {
  return limiter.handle(async ({ reason, signal }) => {
    assert.equal(signal.aborted, false);
    await once(signal, 'abort');
    return reason();
  });
}

test('ends a request at its deadline, or as interrupted when the service stops', async () => {
  assert.equal(await handleUntilEnd(new OutreachLimiter({ totalMs: 20 })), 'deadline');
  const stopped = new OutreachLimiter();
  const handled = handleUntilEnd(stopped);
  stopped.stop();
  assert.equal(await handled, 'interrupted');
});

test('a process that retires can wait until all requests are answered, also failed and later ones', async () => {
  const limiter = new OutreachLimiter();
  const { signal } = new AbortController();
  await limiter.waitUntilIdle(signal);
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const failing = assert.rejects(limiter.handle(() => first.promise));
  let isIdle = false;
  const idle = limiter.waitUntilIdle(signal).then(() => (isIdle = true));
  const later = limiter.handle(() => second.promise);
  first.reject(new Error('it failed'));
  await failing;
  await setImmediate();
  assert.equal(isIdle, false);
  second.resolve();
  await Promise.all([later, idle]);
});

test('the wait for requests ends at a stop', async () => {
  const limiter = new OutreachLimiter();
  void limiter.handle(() => new Promise(() => {}));
  const stopping = new AbortController();
  const idle = limiter.waitUntilIdle(stopping.signal);
  stopping.abort();
  await idle;
  await limiter.waitUntilIdle(stopping.signal);
});

test('rejects waiting and later requests when the service stops', async () => {
  const limiter = new OutreachLimiter({ maxConcurrent: 1, maxWaiting: 1 });
  occupy(limiter);
  const waiting = limiter.run(never);
  limiter.stop();
  await assert.rejects(waiting, { code: 'draining' });
  await assert.rejects(limiter.run(never), { code: 'draining' });
});
