import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';

import { PublicError } from '#server/errors.ts';

import { OutreachDesk } from './outreach-desk.ts';

const refusal = (code: string) => (error: unknown) =>
  error instanceof PublicError && error.code === code;

/** Work that lasts until it is told to end. */
function occupy(desk: OutreachDesk, count: number): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (let index = 0; index < count; index++) void desk.run(() => promise);
  return resolve;
}

test('so many are under way, so many wait in line, and the next is refused with a time to come back', async () => {
  const desk = new OutreachDesk({ maxConcurrent: 1, maxWaiting: 2 });
  const end = occupy(desk, 1);
  const begun: number[] = [];
  const waiting = [1, 2].map((id) => desk.run(async () => begun.push(id)));
  assert.equal(desk.depth, 2);
  await assert.rejects(
    desk.run(async () => {}),
    (error) =>
      error instanceof PublicError &&
      error.code === 'overloaded' &&
      Number(error.headers['retry-after']) > 0,
  );
  end();
  await Promise.all(waiting);
  assert.deepEqual(begun, [1, 2]);
  assert.equal(desk.depth, 0);
});

test('whose turn does not come soon is refused, and leaves the line', async () => {
  const desk = new OutreachDesk({ maxConcurrent: 1, maxWaiting: 1, maxWaitMs: 20 });
  const end = occupy(desk, 1);
  await assert.rejects(
    desk.run(async () => assert.fail('nobody waits for it any more')),
    {
      code: 'overloaded',
    },
  );
  assert.equal(desk.depth, 0);
  end();
  assert.equal(await desk.run(async () => 'next'), 'next');
});

test('work that fails gives its turn on', async () => {
  const desk = new OutreachDesk({ maxConcurrent: 1, maxWaiting: 1 });
  await assert.rejects(
    desk.run(() => Promise.reject(new Error('no'))),
    /no/u,
  );
  assert.equal(await desk.run(async () => 'next'), 'next');
});

test('a request ends by its deadline, or as interrupted when the service stops', async () => {
  const desk = new OutreachDesk({ totalMs: 20 });
  const late = desk.begin();
  await once(late.signal, 'abort');
  assert.equal(late.reason(), 'deadline');
  const patient = new OutreachDesk();
  const { signal, reason } = patient.begin();
  assert.equal(signal.aborted, false);
  patient.stop();
  assert.deepEqual([signal.aborted, reason()], [true, 'interrupted']);
});

test('a stop refuses those that wait and those that come', async () => {
  const desk = new OutreachDesk({ maxConcurrent: 1, maxWaiting: 1 });
  occupy(desk, 1);
  const waiting = desk.run(async () => {});
  desk.stop();
  await assert.rejects(waiting, refusal('draining'));
  await assert.rejects(
    desk.run(async () => {}),
    refusal('draining'),
  );
});
