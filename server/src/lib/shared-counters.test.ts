import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { LocalCounters } from './counters.ts';
import { RateLimiter } from './rate-limiter.ts';
import {
  LocalStore,
  SharedCounters,
  type CounterStore,
  type Exchange,
  type ExchangeOutcome,
} from './shared-counters.ts';

const START = Date.UTC(2027, 0, 1);
const POLICY = { name: 'tries', quota: 10, windowSeconds: 600 };

/** A store that answers in a later turn, like that of another process. */
class SlowStore implements CounterStore {
  readonly values = new LocalStore();
  readonly exchanges: Exchange[] = [];
  failure: Error | null = null;

  async exchange(exchange: Exchange): Promise<ExchangeOutcome> {
    this.exchanges.push(exchange);
    await new Promise((resolve) => setImmediate(resolve));
    if (this.failure !== null) throw this.failure;
    return this.values.exchange(exchange);
  }
}

/** Returns a process that shares its counters by a store. */
function openProcess(store: CounterStore) {
  const events: string[] = [];
  const counters = new SharedCounters({
    store,
    createFallback: () => new LocalCounters(),
    onFailure: (error) => events.push(String(error)),
    onRecovery: () => events.push('recovered'),
  });
  const limiter = new RateLimiter(counters, POLICY);
  const take = async (now = START): Promise<boolean> =>
    (await limiter.take('client', now)).retryAfterSeconds === 0;
  return { counters, limiter, take, events };
}

describe('SharedCounters', () => {
  test('count requests of two processes together, also concurrent ones', async () => {
    const store = new SlowStore();
    const [one, other] = [openProcess(store), openProcess(store)];
    const verdicts = await Promise.all(
      Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? one.take() : other.take())),
    );
    assert.equal(verdicts.filter(Boolean).length, POLICY.quota);
  });

  test('count concurrent requests of two processes together when their clocks differ', async () => {
    const store = new SlowStore();
    const [one, other] = [openProcess(store), openProcess(store)];
    const verdicts = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        index % 2 === 0 ? one.take() : other.take(START - (index % 10)),
      ),
    );
    assert.equal(verdicts.filter(Boolean).length, POLICY.quota);
  });

  test('store concurrent calls for one client together', async () => {
    const store = new SlowStore();
    const { take } = openProcess(store);
    await Promise.all(Array.from({ length: 10 }, () => take()));
    assert.equal(store.exchanges.length, 2, 'the first call, then the nine that arrived during it');
  });

  test('cost one exchange for each call while no other process counts, and two after one did', async () => {
    const store = new SlowStore();
    const [one, other] = [openProcess(store), openProcess(store)];
    await one.take();
    await one.take();
    assert.equal(store.exchanges.length, 2);
    await other.take();
    assert.equal(store.exchanges.length, 4);
  });

  test('read what another process counted', async () => {
    const store = new SlowStore();
    const [one, other] = [openProcess(store), openProcess(store)];
    assert.equal(await other.counters.read('kind', 'client'), null);
    await one.counters.update('kind', 'client', () => ({ state: [7, 8], keepMs: 1, result: null }));
    assert.deepEqual(await other.counters.read('kind', 'client'), [7, 8]);
    assert.deepEqual(await other.counters.read('kind', 'client'), [7, 8]);
    assert.equal(await other.counters.read('kind', 'another'), null);
  });

  test('count in the process while the store fails, and report that once', async (t) => {
    const store = new SlowStore();
    const { counters, take, events } = openProcess(store);
    store.failure = new Error('gone');
    const verdicts = await Promise.all(Array.from({ length: 12 }, () => take()));
    assert.equal(verdicts.filter(Boolean).length, POLICY.quota);
    assert.deepEqual([events, counters.hasFailed], [['Error: gone'], true]);
    const tried = store.exchanges.length;
    await take();
    assert.equal(store.exchanges.length, tried, 'not tried again at once');

    store.failure = null;
    const later = performance.now() + 6_000;
    t.mock.method(performance, 'now', () => later);
    assert.equal(await take(), true, 'counted by the store again');
    assert.deepEqual([events, counters.hasFailed], [['Error: gone', 'recovered'], false]);
  });

  test('continue from the last known state when the store fails, each time', async (t) => {
    const store = new SlowStore();
    const { take, events } = openProcess(store);
    const takeAll = async (times: number) =>
      (await Promise.all(Array.from({ length: times }, () => take()))).filter(Boolean).length;
    assert.equal(await takeAll(3), 3);
    store.failure = new Error('gone');
    assert.equal(await takeAll(12), 7);

    store.failure = null;
    let later = performance.now() + 6_000;
    t.mock.method(performance, 'now', () => later);
    assert.equal(await takeAll(4), 4, 'three were stored');
    store.failure = new Error('gone again');
    assert.equal(await takeAll(12), 3, 'seven were stored');
    later += 60_000;
    await take();
    assert.deepEqual(events, ['Error: gone', 'recovered', 'Error: gone again']);
  });

  test('do not treat changes of other processes as a failure of the store', async (t) => {
    const store = new SlowStore();
    const { take, counters, events } = openProcess(store);
    t.mock.method(performance, 'now', () => 100 * store.exchanges.length);
    let count = 0;
    const exchange = store.exchange.bind(store);
    t.mock.method(store, 'exchange', async (change: Exchange) => {
      const expected = count === 0 ? null : String(START + count);
      const next = String(START + ++count);
      store.values.exchange({ ...change, expected, next });
      return exchange(change);
    });
    assert.equal(await take(), true);
    assert.deepEqual([store.exchanges.length, counters.hasFailed, events], [10, false, []]);
  });

  test('treat a stored value of another program as none', async () => {
    const store = new SlowStore();
    store.values.exchange({ kind: 'tries', client: 'client', expected: null, next: 'seven' });
    const { take } = openProcess(store);
    assert.equal(await take(), true);
  });
});
