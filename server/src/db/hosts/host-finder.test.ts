import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';

import { DatabaseError } from 'pg';

import type { SessionKind } from '#server/config/database-url.ts';

import { isConnectionFailure, NoHostError } from '../database-errors.ts';
import { HostFinder } from './host-finder.ts';
import { isOfKind, type HostState } from './host-state.ts';

const A = { host: 'a', port: 1 };
const B = { host: 'b', port: 2 };
const C = { host: 'c', port: 3 };

/** The state of each host, or why it does not answer. */
type Hosts = Record<string, HostState | Error>;

function find(kind: SessionKind, states: Hosts) {
  const examined: string[] = [];
  const finder = new HostFinder({
    hosts: [A, B, C],
    kind,
    examine: async ({ host }) => {
      examined.push(host);
      const state = states[host] ?? new Error('connect ECONNREFUSED');
      if (state instanceof Error) throw state;
      return state;
    },
  });
  return { finder, examined };
}

/** Results are fresh for 100 ms. */
async function findAnew(finder: HostFinder) {
  await sleep(110);
  return finder.find();
}

test('accepts the hosts of each kind', () => {
  const states = ['read-write', 'read-only', 'standby'] as const;
  for (const [kind, expected] of [
    ['any', [true, true, true]],
    ['read-write', [true, false, false]],
    ['read-only', [false, true, true]],
    ['primary', [true, true, false]],
    ['standby', [false, false, true]],
    ['prefer-standby', [false, false, true]],
  ] as const) {
    const accepted = states.map((state) => isOfKind(kind, state));
    assert.deepEqual(accepted, expected, kind);
  }
});

test('finds the first host of the kind, and does not examine those after it', async () => {
  const { finder, examined } = find('read-write', { a: 'standby', b: 'read-write' });
  assert.equal(await finder.find(), B);
  assert.deepEqual(examined, ['a', 'b']);
});

test('examines the preferred host first, until it is not of the kind any more', async () => {
  const states: Hosts = { a: 'read-write', b: 'read-write' };
  const { finder, examined } = find('read-write', states);
  assert.equal(finder.prefer(B), null);
  assert.equal(await finder.find(), B);
  states['b'] = 'standby';
  assert.equal(await findAnew(finder), A);
  assert.deepEqual(examined, ['b', 'b', 'a']);
  assert.equal(finder.prefer(A), B);
});

test('prefers a standby, and else uses the first host that answers', async () => {
  const states: Hosts = { b: 'read-write', c: 'standby' };
  const { finder } = find('prefer-standby', states);
  assert.equal(await finder.find(), C);
  delete states['c'];
  assert.equal(await findAnew(finder), B);
});

test('shares a search between callers, also its failure for a moment', async () => {
  const { finder, examined } = find('primary', { a: 'standby', b: 'standby' });
  const results = await Promise.allSettled([finder.find(), finder.find()]);
  const [first, second] = results.map((each) => (each.status === 'rejected' ? each.reason : null));
  assert.ok(first instanceof NoHostError && isConnectionFailure(first));
  assert.equal(second, first);
  assert.equal(
    first.message,
    'a:1 is a standby; b:2 is a standby; c:3 does not answer (connect ECONNREFUSED)',
  );
  assert.deepEqual(examined, ['a', 'b', 'c']);
});

test('goes on after a host that is starting, but not after one that rejects the password', async () => {
  const rejection = (code: string) =>
    Object.assign(new DatabaseError('rejected', 0, 'error'), { code });
  const starting = find('any', { a: rejection('57P03'), b: 'read-write' });
  assert.equal(await starting.finder.find(), B);
  const wrong = rejection('28P01');
  await assert.rejects(find('any', { a: wrong, b: 'read-write' }).finder.find(), wrong);
});
