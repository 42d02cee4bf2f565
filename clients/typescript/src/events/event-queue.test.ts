import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NOW_MS } from '../../test/signer.ts';
import { EventQueue, MAX_AGE_MS, MAX_BYTES, MAX_EVENTS } from './event-queue.ts';
import { memoryEventStore, type EventStore } from './event-store.ts';
import type { QueuedEvent } from './event.ts';

const AT = new Date(NOW_MS).toISOString();

function event(id: number, changes: Partial<QueuedEvent> = {}): QueuedEvent {
  return { id: `e${id}`, name: 'opened', at: AT, props: {}, session: 's', app: '1', ...changes };
}

function openQueue(store: EventStore = memoryEventStore()) {
  const problems: string[] = [];
  const queue = new EventQueue(store, ({ code }) => problems.push(code));
  const ids = (limit = MAX_EVENTS): string[] => queue.nextBatch(limit, NOW_MS).map(({ id }) => id);
  return { queue, store, problems, ids };
}

test('keeps events over a restart, oldest first', () => {
  const { queue, store } = openQueue();
  for (const id of [1, 2, 3]) queue.add(event(id));
  const again = openQueue(store);
  again.queue.add(event(4));
  assert.deepEqual(again.ids(), ['e1', 'e2', 'e3', 'e4']);
  assert.deepEqual(again.ids(2), ['e1', 'e2']);
});

test('puts only events of one session and version into a batch', () => {
  const { queue, ids } = openQueue();
  queue.add(event(1));
  queue.add(event(2, { app: '2' }));
  queue.add(event(3, { session: 'other', app: '2' }));
  const batches = [];
  for (let batch = ids(); batch.length > 0; batch = ids()) {
    batches.push(batch);
    queue.remove(batch.map((id) => event(Number(id.slice(1)))));
  }
  assert.deepEqual(batches, [['e1'], ['e2'], ['e3']]);
});

test('removes what was sent, and keeps what another process added', () => {
  const { queue, store, ids } = openQueue();
  queue.add(event(1));
  store.append(`${JSON.stringify(event(9))}\n`);
  queue.remove([event(1)]);
  assert.deepEqual(ids(), ['e9']);
});

test('survives a line that was cut, and one of something else', () => {
  const store = memoryEventStore();
  store.replace(`no event\n${JSON.stringify(event(1))}\n{"id":"e2","na`);
  const { queue, ids } = openQueue(store);
  queue.add(event(3));
  assert.deepEqual(ids(), ['e1', 'e3']);
  assert.deepEqual(openQueue(store).ids(), ['e1', 'e3']);
});

test('drops the oldest events beyond 5,000, and counts them', () => {
  const { queue, store, ids } = openQueue();
  for (let id = 0; id <= MAX_EVENTS; id += 1) queue.add(event(id));
  assert.deepEqual([ids().length, queue.dropped], [4_500, 501]);
  assert.equal(ids()[0], 'e501');
  assert.equal(openQueue(store).ids().length, 4_500);
});

test('drops the oldest events beyond 1 MB', () => {
  const { queue, store } = openQueue();
  const props = { text: 'x'.repeat(10_000) };
  for (let id = 0; id < 150; id += 1) {
    queue.add(event(id, { props }));
    assert.ok(store.read().length <= MAX_BYTES);
  }
  assert.equal(queue.dropped + store.read().split('\n').length - 1, 150);
  assert.ok(store.read().length > MAX_BYTES * 0.85);
});

test('drops events after 30 days', () => {
  const { queue, ids } = openQueue();
  queue.add(event(1, { at: new Date(NOW_MS - MAX_AGE_MS - 1).toISOString() }));
  queue.add(event(2, { at: new Date(NOW_MS - MAX_AGE_MS).toISOString() }));
  assert.deepEqual([ids(), queue.dropped], [['e2'], 1]);
});

/** A store whose reading fails while `isUnreadable`. */
function createUnreadable(lines: string) {
  const disk = memoryEventStore();
  disk.replace(lines);
  const world = { isUnreadable: true };
  const store: EventStore = {
    ...disk,
    read() {
      if (world.isUnreadable) throw new Error('EACCES: permission denied');
      return disk.read();
    },
  };
  return { disk, world, store };
}

const lineOf = (id: number): string => `${JSON.stringify(event(id))}\n`;

test('never replaces stored events that cannot be read, and keeps them all when they can', () => {
  const { disk, world, store } = createUnreadable(lineOf(1));
  const { queue, ids } = openQueue(store);
  queue.add(event(2));
  queue.add(event(3));
  queue.remove([event(2)]);
  assert.deepEqual([ids(), disk.read()], [['e3'], lineOf(1)]);
  world.isUnreadable = false;
  queue.add(event(4));
  assert.deepEqual([ids(), disk.read()], [['e1', 'e3', 'e4'], lineOf(1) + lineOf(3) + lineOf(4)]);
});

test('keeps events that another process stored although a later reading fails', () => {
  const { disk, world, store } = createUnreadable(lineOf(1));
  world.isUnreadable = false;
  const { queue, ids } = openQueue(store);
  assert.deepEqual(ids(), ['e1']);
  disk.append(lineOf(9));
  world.isUnreadable = true;
  queue.remove([event(1)]);
  assert.deepEqual([ids(), disk.read()], [[], lineOf(1) + lineOf(9)]);
  world.isUnreadable = false;
  queue.remove([]);
  assert.deepEqual([ids(), disk.read()], [['e9'], lineOf(9)]);
});

test('keeps its own events when another process replaced the store', () => {
  const { queue, store, ids } = openQueue();
  queue.add(event(1));
  queue.add(event(2));
  store.replace('');
  queue.remove([event(1)]);
  assert.deepEqual(ids(), ['e2']);
});

test('removes stored events that cannot be read when the user stops sharing', () => {
  const { disk, store } = createUnreadable(lineOf(1));
  const { queue, ids } = openQueue(store);
  queue.clear();
  assert.deepEqual([ids(), disk.read()], [[], '']);
});

test('clears a store that may have events, and writes nothing if it has none', () => {
  const { disk, store } = createUnreadable(lineOf(1));
  openQueue(store).queue.clearUnlessEmpty();
  assert.equal(disk.read(), '');
  disk.replace(lineOf(2));
  openQueue(disk).queue.clearUnlessEmpty();
  assert.equal(disk.read(), '');
  const writes: string[] = [];
  const { queue, problems } = openQueue({ ...disk, replace: (lines) => writes.push(lines) });
  queue.clearUnlessEmpty();
  assert.deepEqual([writes, problems], [[], []]);
});

test('counts no event as dropped that was deleted while it was sent', () => {
  const { queue } = openQueue();
  for (let id = 0; id < MAX_EVENTS; id += 1) queue.add(event(id));
  const batch = queue.nextBatch(400, NOW_MS);
  queue.add(event(MAX_EVENTS));
  assert.equal(queue.dropped, 501);
  queue.remove(batch);
  assert.equal(queue.dropped, 101);
});

test('counts a rejected event once', () => {
  const { queue } = openQueue();
  for (let id = 0; id < MAX_EVENTS; id += 1) queue.add(event(id));
  const batch = queue.nextBatch(400, NOW_MS);
  queue.add(event(MAX_EVENTS));
  queue.drop(batch);
  assert.equal(queue.dropped, 501);
});

test('keeps events in memory while the disk fails', () => {
  const disk = memoryEventStore();
  let isFull = true;
  const failing = (work: () => void): void => {
    if (isFull) throw new Error('ENOSPC: no space left on device');
    work();
  };
  const { queue, ids, problems } = openQueue({
    read: () => disk.read(),
    append: (line) => failing(() => disk.append(line)),
    replace: (lines) => failing(() => disk.replace(lines)),
  });
  queue.add(event(1));
  queue.add(event(2));
  queue.remove([event(1)]);
  assert.deepEqual([ids(), problems.length], [['e2'], 3]);
  isFull = false;
  queue.remove([]);
  assert.match(disk.read(), /^\{"id":"e2"[^\n]+\n$/);
});
