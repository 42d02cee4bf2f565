import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { FleetEvent } from '../core/types.ts';
import { describeEvent, listNewer, summarizeEvents } from './events.ts';

const AT = new Date(2026, 10, 21, 14, 3, 22).getTime();
const ORIGIN = 'https://fleet.test';

function eventOf(what: FleetEvent['what'], name = 'web-1'): FleetEvent {
  return { at: AT, machine: { id: name, name, address: name, labels: [] }, what };
}

const full = {
  code: 'filesystem_full',
  severity: 'warning',
  since: new Date(AT).toISOString(),
  subject: '/var',
  ratio: 0.93,
} as const;

test('describes what happened', () => {
  const events = [
    eventOf({ kind: 'gap', reason: 'no_answer', since: AT - 3000 }),
    eventOf({ kind: 'back' }),
    eventOf({ kind: 'rebooted' }),
    eventOf({ kind: 'agent_restarted' }),
    eventOf({ kind: 'notice', notice: full }),
    eventOf({ kind: 'notice_over', notice: full }),
  ].map((event) => describeEvent(event, ORIGIN));
  assert.deepEqual(events, [
    'web-1 has not answered since 14:03:19.',
    'web-1 answers again.',
    'web-1 rebooted.',
    'The agent of web-1 restarted.',
    'web-1: /var is 93\u00a0% full.',
    'web-1, over: /var is 93\u00a0% full.',
  ]);
});

test('counts many events instead of reading each', () => {
  const lost = ['a', 'b', 'c', 'd'].map((name) =>
    eventOf({ kind: 'gap', reason: 'unreachable', since: AT }, name),
  );
  assert.equal(summarizeEvents(lost, ORIGIN), 'New problems of 4 machines.');
  assert.equal(
    summarizeEvents([...lost, eventOf({ kind: 'back' })], ORIGIN),
    'New problems of 4 machines. 1 other change.',
  );
  const few = [eventOf({ kind: 'back' }, 'a'), eventOf({ kind: 'rebooted' }, 'b')];
  assert.equal(summarizeEvents(few, ORIGIN), 'a answers again. b rebooted.');
});

test('lists the events after the last one that was seen', () => {
  const events = [1, 2, 3].map(() => eventOf({ kind: 'back' }));
  assert.equal(listNewer(events, events[1] ?? null).length, 1);
  assert.equal(listNewer(events, null).length, 3);
  assert.equal(listNewer(events, eventOf({ kind: 'back' })).length, 3);
});
