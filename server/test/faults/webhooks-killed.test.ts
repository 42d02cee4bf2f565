import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { after, before, describe, test } from 'node:test';

import type { Pool } from 'pg';

import { eventually } from '../eventually.ts';
import type { PaddleEvent } from '../payment-providers/paddle-events.ts';
import type { ServiceProcess } from '../service-process.ts';
import {
  assertOneLicenseAndEmailEach,
  deliver,
  type PurchaseFixture,
  createPurchases,
  openPurchaseFixture,
  expireClaims,
  type Purchase,
} from './purchase-fixture.ts';

/*
 * Webhooks whose service is killed before it responds lead to one license and one e-mail after they are delivered
 * again. A service that is killed after the relay accepted an e-mail, but before that is recorded, sends it a second
 * time with the same Message-ID, as documented; so here the services are killed before they send.
 */

const onUnix = { skip: process.platform === 'win32' };
const KILLED = { code: null, signal: 'SIGKILL' };

/** A point of a delivery at which a lock of another connection blocks it. */
interface Point {
  readonly when: string;
  /** The statement that takes the lock. */
  readonly hold: string;
  /** The condition on `pg_locks waiting` for a wait for that lock: later transactions wait for the billing lock. */
  readonly blocked: string;
  readonly commits: boolean;
}

const POINTS: readonly Point[] = [
  {
    when: 'before anything is written',
    hold: `select pg_advisory_xact_lock(hashtextextended('latchkey billing', 0))`,
    blocked: 'waiting.locktype = billing.locktype and waiting.objid = billing.objid',
    commits: false,
  },
  {
    when: 'after the events and their facts, before the licenses',
    hold: 'lock table licenses in share mode',
    blocked: `waiting.relation = 'licenses'::regclass`,
    commits: false,
  },
  {
    when: 'after the licenses, before their e-mails are queued',
    hold: 'lock table jobs in share mode',
    blocked: `waiting.relation = 'jobs'::regclass`,
    commits: false,
  },
  {
    when: 'after it sent the commit',
    hold: 'select pg_advisory_xact_lock(4711)',
    blocked: `waiting.locktype = 'advisory' and waiting.classid = 0 and waiting.objid = 4711`,
    commits: true,
  },
];

/** Makes every commit of events wait for the advisory lock 4711. */
const HOLD_COMMITS = `
  create function hold_commit() returns trigger language plpgsql set lock_timeout = 0 as
    $$ begin perform pg_advisory_xact_lock_shared(4711); return null; end $$;
  create constraint trigger hold_commit after insert on billing_events
    deferrable initially deferred for each row execute function hold_commit()`;

describe('killed between arrival and commit', onUnix, () => {
  let shop: PurchaseFixture;
  let service: ServiceProcess;
  let sold = 0;

  before(async () => {
    shop = await openPurchaseFixture();
    await shop.pool.query(HOLD_COMMITS);
    service = await shop.start();
  });
  after(() => shop[Symbol.asyncDispose]());

  for (const { when, hold, blocked, commits } of POINTS) {
    test(`${when}: one license, one e-mail`, async () => {
      const { pool, relay } = shop;
      const [known, unknown] = [createPurchases(6), createPurchases(6)];
      const payments = [...known, ...unknown].map(({ payment }) => payment);
      const events = [...payments, ...unknown.map(({ customer }) => customer)];
      for (const { customer } of known) assert.equal(await deliver(service, customer), 'processed');
      const sent = relay.mails.length;
      const stored = await listEventIds(pool);
      await using held = await holdLock(pool, hold);
      const answering = Promise.all(events.map((event) => deliver(service, event)));
      const waiting = await findWaiting(pool, blocked);
      assert.deepEqual(await service.stop('SIGKILL'), KILLED);
      await held.release();
      assert.ok((await answering).every((status) => status === null));
      await eventually(async () => !(await listBackends(pool)).includes(waiting));

      const kept = await listEventIds(pool);
      assert.equal(kept.size > stored.size, commits);
      assert.equal(relay.mails.length, sent);
      // Serves the next point, too.
      service = await shop.start();
      for (const event of events) {
        const expected = kept.has(event.event_id) ? 'duplicate' : 'processed';
        assert.equal(await deliver(service, event), expected);
      }
      await assertOneLicenseAndEmailEach(shop, service, [...known, ...unknown], sold);
      sold += events.length - unknown.length;
    });
  }
});

/** A commit stores at most `CLIENTS` events, so these events need more commits than the test waits for. */
const CLIENTS = 10;
const PURCHASES = 25;
const MAX_COMMITS = 4;
const MAX_ROUNDS = 15;

test(
  'killed under load, with unanswered events both committed and not: one license, one e-mail',
  onUnix,
  async () => {
    await using shop = await openPurchaseFixture();
    // The relay accepts nothing until the last process is killed.
    shop.relay.script = { sender: { code: 451, words: 'later' } };
    const sold: Purchase[] = [];
    const became = new Set<string>();
    await shop.pool.query(NOTIFY_COMMITS);
    let service = await shop.start();
    for (let round = 1; became.size < 2; round += 1) {
      assert.ok(round <= MAX_ROUNDS, `only ${[...became].join()} in ${MAX_ROUNDS} rounds`);
      const purchases = createPurchases(PURCHASES);
      sold.push(...purchases);
      const unanswered = await killUnderLoad(shop.pool, service, purchases);
      service = await shop.start();
      for (const event of unanswered) became.add((await deliver(service, event)) ?? 'no answer');
    }
    assert.deepEqual(await service.stop('SIGKILL'), KILLED);
    assert.deepEqual([...became].toSorted(), ['duplicate', 'processed']);
    assert.equal(shop.relay.mails.length, 0);
    shop.relay.script = {};
    await expireClaims(shop.pool);
    const last = await shop.start();
    await assertOneLicenseAndEmailEach(shop, last, sold);
    await last.stop();
  },
);

/** Notifies listeners of every commit of events. */
const NOTIFY_COMMITS = `
  create function tell_commit() returns trigger language plpgsql as
    $$ begin perform pg_notify('commits', ''); return null; end $$;
  create trigger tell_commit after insert on billing_events execute function tell_commit()`;

/** Kills a service at a random time under load; returns the unanswered events. */
async function killUnderLoad(
  pool: Pool,
  service: ServiceProcess,
  purchases: readonly Purchase[],
): Promise<PaddleEvent[]> {
  const unanswered: PaddleEvent[] = [];
  // For every second purchase the address arrives last.
  const events = purchases.map(({ customer, payment }, index) =>
    index % 2 === 0 ? [customer, payment] : [payment, customer],
  );
  const left = events.flat().values();
  await using commits = await listenForCommits(pool);
  const sending = Array.from({ length: CLIENTS }, async () => {
    for (const event of left) {
      if ((await deliver(service, event)) !== null) continue;
      unanswered.push(event);
      return;
    }
  });
  await commits.waitFor(randomInt(1, MAX_COMMITS + 1));
  // Which commits were reported by now is random.
  assert.deepEqual(await service.stop('SIGKILL'), KILLED);
  await Promise.all(sending);
  return unanswered;
}

async function listenForCommits(
  pool: Pool,
): Promise<AsyncDisposable & { waitFor(count: number): Promise<void> }> {
  const client = await pool.connect();
  const commits = new EventEmitter();
  const onCommit = (): void => void commits.emit('commit');
  client.on('notification', onCommit);
  await client.query('listen commits');
  return {
    async waitFor(count) {
      for (let seen = 0; seen < count; seen += 1) await once(commits, 'commit');
    },
    async [Symbol.asyncDispose]() {
      client.off('notification', onCommit);
      await client.query('unlisten commits');
      client.release();
    },
  };
}

async function holdLock(
  pool: Pool,
  sql: string,
): Promise<AsyncDisposable & { release(): Promise<void> }> {
  const client = await pool.connect();
  await client.query(`begin; ${sql}`);
  let released: Promise<void> | undefined;
  const release = (): Promise<void> => {
    released ??= client.query('rollback').then(() => client.release());
    return released;
  };
  return { release, [Symbol.asyncDispose]: release };
}

/** Waits until a billing transaction is blocked as a point says; returns its backend. */
async function findWaiting(pool: Pool, blocked: string): Promise<number> {
  let found: number | undefined;
  await eventually(async () => {
    const { rows } = await pool.query<{ pid: number }>(
      `select pid from pg_locks waiting join pg_locks billing using (pid)
       where not waiting.granted and ${blocked} and billing.locktype = 'advisory' and billing.objsubid = 1
         and billing.database = (select oid from pg_database where datname = current_database())
         and billing.classid::bigint << 32 | billing.objid::bigint = hashtextextended('latchkey billing', 0)`,
    );
    found = rows[0]?.pid;
    return found !== undefined;
  });
  return found ?? 0;
}

async function listBackends(pool: Pool): Promise<number[]> {
  const { rows } = await pool.query<{ pid: number }>('select pid from pg_stat_activity');
  return rows.map(({ pid }) => pid);
}

async function listEventIds(pool: Pool): Promise<Set<string>> {
  const { rows } = await pool.query<{ event_id: string }>('select event_id from billing_events');
  return new Set(rows.map(({ event_id: eventId }) => eventId));
}
