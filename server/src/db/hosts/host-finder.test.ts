import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';

import { DatabaseError } from 'pg';

import type { SessionKind } from '#server/config/database-url.ts';

import { isConnectionFailure, NoHostError } from '../database-errors.ts';
import { HostFinder } from './host-finder.ts';
import { isOfKind, type HostState, type HostStatus } from './host-state.ts';

const A = { host: 'a', port: 1 };
const B = { host: 'b', port: 2 };
const C = { host: 'c', port: 3 };

/** Host b was promoted last. c does not report its timeline. */
const TIMELINES: Readonly<Record<string, number>> = { a: 1, b: 2 };

/** The status of b after its promotion. */
const PROMOTED: HostStatus = { state: 'read-write', timeline: 2 };

/** The state of each host, or why it does not answer. */
type Hosts = Record<string, HostState | 'unresponsive' | Error>;

function find(kind: SessionKind, states: Hosts) {
  const examined: string[] = [];
  let nowMs = 0;
  const finder = new HostFinder({
    nowMs: () => nowMs,
    hosts: [A, B, C],
    kind,
    examine: async ({ host }) => {
      examined.push(host);
      const state = states[host] ?? new Error('connect ECONNREFUSED');
      if (state instanceof Error) throw state;
      if (state === 'unresponsive') return new Promise<never>(() => {});
      return { state, timeline: TIMELINES[host] ?? null };
    },
  });
  /** A result is used for 100 ms. */
  const findAnew = () => {
    nowMs += 100;
    return finder.find();
  };
  return { finder, examined, findAnew };
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

test('finds the host of the kind', async () => {
  const { finder } = find('read-write', { a: 'standby', b: 'read-write' });
  assert.equal(await finder.find(), B);
  assert.equal(await find('standby', { b: 'standby', c: 'standby' }).finder.find(), B);
});

test('of two hosts that accept writes, finds the one that was promoted last', async () => {
  const { finder } = find('read-write', { a: 'read-write', b: 'read-write', c: 'read-write' });
  assert.equal(await finder.find(), B);
});

test('stays at the preferred host until it is not of the kind any more', async () => {
  const states: Hosts = { b: 'read-write', c: 'read-write' };
  const { finder, examined, findAnew } = find('read-write', states);
  assert.equal(finder.prefer(C, { ...PROMOTED, timeline: null }), null);
  assert.equal(await finder.find(), C);
  states['c'] = 'standby';
  assert.equal(await findAnew(), B);
  assert.deepEqual(examined, ['c', 'c', 'a', 'b']);
  assert.equal(finder.prefer(B, PROMOTED), C);
});

test('rejects a primary from before a failover, also as the only one that answers', async () => {
  const states: Hosts = { a: 'read-write', b: new Error('too slow') };
  const { finder, findAnew } = find('read-write', states);
  finder.prefer(B, PROMOTED);
  await assert.rejects(finder.find(), (error) => {
    assert.ok(error instanceof NoHostError);
    assert.match(error.message, /too slow.*; a:1 is a primary from before a failover; c:3/u);
    return true;
  });
  states['b'] = 'read-write';
  assert.equal(await findAnew(), B);
});

test('prefers a standby, and else uses the first host that answers', async () => {
  const states: Hosts = { b: 'read-write', c: 'standby' };
  const { finder, findAnew } = find('prefer-standby', states);
  assert.equal(await finder.find(), C);
  delete states['c'];
  assert.equal(await findAnew(), B);
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

function rejection(code: string): DatabaseError {
  return Object.assign(new DatabaseError('rejected', 0, 'error'), { code });
}

test('ignores a host that fails while another one is of the kind', async () => {
  const starting = find('any', { a: rejection('57P03'), b: 'read-write' });
  assert.equal(await starting.finder.find(), B);
});

test('reports a rejected password as final only if each host rejects it', async () => {
  const wrong = rejection('28P01');
  const rejected: Hosts = { a: wrong, b: rejection('28000'), c: rejection('28000') };
  await assert.rejects(find('read-write', rejected).finder.find(), wrong);
  await assert.rejects(find('read-write', { ...rejected, c: 'standby' }).finder.find(), {
    message:
      'a:1 rejects the connection (rejected); b:2 rejects the connection (rejected); c:3 is a standby',
  });
  const { finder } = find('read-write', { a: wrong, b: wrong });
  await assert.rejects(finder.find(), isConnectionFailure);
});

test('waits 500 ms for the other hosts after one of the kind answered', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { finder } = find('read-write', { a: 'unresponsive', b: 'read-write', c: 'standby' });
  const settled: unknown[] = [];
  const found = finder.find().then((host) => settled.push(host));
  await setImmediate();
  t.mock.timers.tick(499);
  await setImmediate();
  assert.deepEqual(settled, []);
  t.mock.timers.tick(1);
  await found;
  assert.deepEqual(settled, [B]);
});
