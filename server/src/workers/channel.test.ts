import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Channel, type Handlers } from './channel.ts';

/** Returns two connected channels; messages are serialized as between processes. */
function connect(handlers: Handlers): readonly [Channel, Channel] {
  const one: Channel = new Channel((message) => other.receive(copy(message)), {});
  const other: Channel = new Channel((message) => one.receive(copy(message)), handlers);
  return [one, other];
}

function copy(message: object): unknown {
  return JSON.parse(JSON.stringify(message));
}

function fail(): never {
  throw new Error('no database');
}

function never(): Promise<never> {
  return new Promise(() => {});
}

test('answers requests in any order', async () => {
  const slow = Promise.withResolvers<string>();
  const [one] = connect({ slow: () => slow.promise, double: (payload) => Number(payload) * 2 });
  const first = one.request('slow');
  assert.equal(await one.request('double', 21), 42);
  slow.resolve('done');
  assert.equal(await first, 'done');
});

test('passes the error of a handler on', async () => {
  await assert.rejects(connect({ fail })[0].request('fail'), new Error('no database'));
});

test('answers a request that a version does not know with an error', async () => {
  const [one] = connect({});
  await assert.rejects(one.request('new'), new Error('unknown message new'));
  await assert.rejects(one.request('toString'), new Error('unknown message toString'));
  assert.doesNotThrow(() => one.notify('new'));
});

test('rejects a request without an answer at its time limit, and at the end of the other process', async () => {
  const [one] = connect({ never });
  await assert.rejects(one.request('never', null, 1), new Error('no answer to never in 1 ms'));
  const open = one.request('never');
  one.close();
  await assert.rejects(open, new Error('the other process ended'));
});

test('ignores messages of other modules', () => {
  const [one] = connect({});
  for (const message of [null, 'text', 7, {}, { cmd: 'NODE_CLUSTER' }, { answer: 99, payload: 1 }])
    assert.doesNotThrow(() => one.receive(message));
});
