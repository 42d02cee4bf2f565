import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { LocalStore } from '#server/lib/shared-counters.ts';

import { ChannelStore, exchangeAll } from './channel-store.ts';

const FIRST = { kind: 'tries', client: 'a', expected: null, next: '1', keepMs: 1 };

function openStore(answer: (payload: unknown) => unknown) {
  const requests: unknown[] = [];
  const request = async (_kind: string, payload: unknown): Promise<unknown> => {
    requests.push(payload);
    return answer(JSON.parse(JSON.stringify(payload)));
  };
  return { store: new ChannelStore({ request }), requests };
}

describe('ChannelStore', () => {
  test('sends the exchanges of one turn in one message, and returns their outcomes', async () => {
    const values = new LocalStore();
    const { store, requests } = openStore((payload) => exchangeAll(values, payload));
    const outcomes = await Promise.all([
      store.exchange(FIRST),
      store.exchange({ ...FIRST, next: '2' }),
      store.exchange({ ...FIRST, expected: '1', next: '3' }),
      store.exchange({ ...FIRST, expected: '3', next: null }),
      store.exchange({ ...FIRST, client: 'b', next: null }),
    ]);
    assert.deepEqual(outcomes, [true, { current: '1' }, true, true, true]);
    assert.equal(requests.length, 1);
    assert.deepEqual(await store.exchange({ ...FIRST, next: null }), { current: '3' });
  });

  test('rejects when the supervisor does not answer, or not with outcomes', async () => {
    const { store } = openStore(() => {
      throw new Error('no answer');
    });
    await assert.rejects(store.exchange(FIRST), new Error('no answer'));
    for (const answer of [null, [], [7], [{ current: 7 }]]) {
      const error = new Error('the supervisor sent no valid outcome');
      await assert.rejects(openStore(() => answer).store.exchange(FIRST), error);
    }
  });
});

test('exchanges of one turn that are too many for one message are several', async () => {
  const values = new LocalStore();
  const { store, requests } = openStore((payload) => exchangeAll(values, payload));
  const outcomes = await Promise.all(
    Array.from({ length: 1_001 }, (_, index) => store.exchange({ ...FIRST, client: `${index}` })),
  );
  assert.ok(outcomes.every((outcome) => outcome === true));
  assert.equal(requests.length, 2);
});

test('exchangeAll limits what a worker can store', () => {
  const store = new LocalStore();
  const longest = { kind: 'k'.repeat(32), client: 'c'.repeat(512), expected: null };
  assert.deepEqual(exchangeAll(store, [{ ...longest, next: 'v'.repeat(256) }]), [true]);
  assert.throws(
    () =>
      exchangeAll(
        store,
        Array.from({ length: 1_001 }, () => FIRST),
      ),
    new Error('invalid exchanges'),
  );
  for (const each of [
    { kind: 'k'.repeat(33) },
    { client: 'c'.repeat(513) },
    { expected: 'v'.repeat(257) },
    { next: 'v'.repeat(257) },
  ]) {
    assert.throws(() => exchangeAll(store, [{ ...FIRST, ...each }]), new Error('invalid exchange'));
  }
  const kinds = Array.from({ length: 32 }, (_, index) => ({ ...FIRST, kind: `${index}` }));
  assert.throws(() => exchangeAll(store, kinds), new Error('more than 32 kinds of counters'));
});

test('exchangeAll rejects a payload of another shape', () => {
  const store = new LocalStore();
  assert.throws(() => exchangeAll(store, null), new Error('invalid exchanges'));
  for (const each of [null, {}, { ...FIRST, kind: 7 }, { ...FIRST, next: 7 }]) {
    assert.throws(() => exchangeAll(store, [each]), new Error('invalid exchange'));
  }
});
