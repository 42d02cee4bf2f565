import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';

import { hashAddress, subscriberIdOf } from '#server/features/suppressions/address-hash.ts';
import {
  insertSuppression,
  type SuppressionReason,
} from '#server/features/suppressions/queries/suppressions.ts';
import { createSmtpTransport } from '#server/mail/smtp-transport.ts';

import { startTestService } from '../harness.ts';
import type { Answer } from '../http-client.ts';
import { readHeader, startMailRelay } from '../mail-relay.ts';
import { openBrowser } from '../operator-steps.ts';
import { runDueJobs } from '../run-due-jobs.ts';
import { DAY_MS, TEST_START } from '../test-clock.ts';
import { problem, readBody, validationErrorsOf } from './bodies.ts';

const SUBSCRIBERS = '/api/v1/admin/subscribers';
const SUPPRESSIONS = '/api/v1/admin/suppressions';
const MINUTE_MS = 60_000;
const REASON = 'asked for it, ticket 4711';

const relay = await startMailRelay();
after(() => relay.close());
const mail = createSmtpTransport({
  url: relay.url,
  from: 'Shop <shop@example.com>',
  dkim: null,
});
const service = await startTestService({ mail, mailFrom: 'Shop <shop@example.com>' });
after(() => mail.close());
const { clock, context, pool } = service;
const admin = await openBrowser(service, 'admin');
const viewer = await openBrowser(service, 'viewer');

beforeEach(async () => {
  clock.set(TEST_START);
  await pool.query('truncate subscribers, suppressions, subscriber_confirmations, jobs, licenses');
});

const hashOf = (email: string): string => hashAddress(context.vault, email);
const idOf = (email: string): string => subscriberIdOf(context.vault, hashOf(email));

/** Subscribes an address a minute after the previous one. */
async function subscribe(email: string, language = 'en'): Promise<string> {
  clock.advance(MINUTE_MS);
  const headers = { 'accept-language': language };
  assert.equal((await service.post('/api/v1/subscribers', { email }, headers)).status, 201);
  return idOf(email);
}

async function confirm(email: string): Promise<void> {
  await pool.query(
    `update subscribers set confirmed_at = $2, opt_in = 'double' where address_hash = decode($1, 'hex')`,
    [hashOf(email), clock.now()],
  );
}

function suppress(email: string, reason: SuppressionReason): Promise<void> {
  return insertSuppression(pool, {
    addressHash: hashOf(email),
    reason,
    suppressedAt: clock.now(),
  });
}

function itemsOf({ status, body, text }: Answer): Readonly<Record<string, unknown>>[] {
  assert.equal(status, 200, text);
  const { items } = readBody(body);
  assert.ok(Array.isArray(items));
  return items.map(readBody);
}

async function emailsOf(query: string): Promise<unknown[]> {
  return itemsOf(await admin.get(`${SUBSCRIBERS}${query}`)).map(({ email }) => email);
}

async function lastAudit() {
  const { rows } = await pool.query(
    'select actor, action, subject_id, reason from audit_log order by sequence desc limit 1',
  );
  return rows[0];
}

async function queuedJobs(): Promise<number> {
  return (await pool.query('select from jobs')).rowCount ?? 0;
}

describe('GET /subscribers', () => {
  test('lists every field, the newest first, page by page', async () => {
    const first = await subscribe('ada@example.com', 'de');
    await subscribe('bob@example.org');
    const { body } = await admin.get(`${SUBSCRIBERS}?limit=1`);
    const { items, next_cursor: cursor } = readBody(body);
    assert.deepEqual(Array.isArray(items) && items.length, 1);
    const [ada, ...others] = itemsOf(
      await viewer.get(`${SUBSCRIBERS}?limit=1&cursor=${String(cursor)}`),
    );
    assert.deepEqual(others, []);
    const at = new Date(Date.parse(TEST_START.toISOString()) + MINUTE_MS).toISOString();
    assert.deepEqual(ada, {
      id: first,
      email: 'ada@example.com',
      state: 'pending',
      language: 'de',
      opt_in: null,
      first_subscribed_at: at,
      subscribed_at: at,
      confirmed_at: null,
      confirmation_mailed_at: null,
      confirmation_problem: null,
      suppression_reason: null,
      suppressed_at: null,
    });
  });

  test('filters by each state, as the rule derives it', async () => {
    const reasons = ['unsubscribed', 'by_hand', 'bounced', 'complained', 'erased'] as const;
    for (const reason of reasons) {
      await subscribe(`${reason}@example.com`);
      await confirm(`${reason}@example.com`);
      await suppress(`${reason}@example.com`, reason);
    }
    await subscribe('pending@example.com');
    await subscribe('confirmed@example.com');
    await confirm('confirmed@example.com');
    for (const state of [
      'pending',
      'confirmed',
      'unsubscribed',
      'suppressed',
      'bounced',
      'complained',
      'erased',
    ]) {
      const items = itemsOf(await admin.get(`${SUBSCRIBERS}?state=${state}`));
      assert.deepEqual(
        items.map((each) => each['state']),
        [state],
      );
    }
  });

  test('filters by language, opt-in, product, time and address', async () => {
    await subscribe('ada@example.com', 'de');
    await subscribe('Ben_1@sub.example.org', 'fr');
    await confirm('Ben_1@sub.example.org');
    await subscribe('benx1@example.org');
    await service.issue({ customerEmail: 'ADA@example.com' });
    const second = new Date(TEST_START.getTime() + 2 * MINUTE_MS).toISOString();
    assert.deepEqual(await emailsOf('?language=de'), ['ada@example.com']);
    assert.deepEqual(await emailsOf('?opt_in=double'), ['Ben_1@sub.example.org']);
    assert.deepEqual(await emailsOf('?product=personal'), ['ada@example.com']);
    assert.deepEqual(await emailsOf('?product=other'), []);
    assert.deepEqual(await emailsOf(`?until=${second}`), ['ada@example.com']);
    assert.deepEqual(await emailsOf(`?since=${second}&opt_in=double`), ['Ben_1@sub.example.org']);
    // Another form of a date-time, without an offset: UTC.
    const same = second.replace('T', '_').replace('Z', '');
    assert.deepEqual(await emailsOf(`?since=${same}&opt_in=double`), ['Ben_1@sub.example.org']);
    assert.deepEqual(await emailsOf('?search=BEN_1'), ['Ben_1@sub.example.org']);
    assert.deepEqual(await emailsOf('?search=%40example'), [
      'benx1@example.org',
      'ada@example.com',
    ]);
    assert.deepEqual(await emailsOf('?search=%20ADA%40EXAMPLE.com'), ['ada@example.com']);
    assert.deepEqual(await emailsOf('?search=%25'), []);
  });

  test('rejects unknown filters and cursors', async () => {
    for (const [query, place] of [
      ['state=gone', 'query.state'],
      ['since=yesterday', 'query.since'],
      ['cursor=x', 'query.cursor'],
      ['limit=0', 'query.limit'],
    ] as const) {
      const answer = await admin.get(`${SUBSCRIBERS}?${query}`);
      assert.deepEqual([answer.status, validationErrorsOf(answer.body)[0]?.[0]], [422, place]);
    }
  });
});

describe('GET /subscribers/export', () => {
  test('sends all rows as CSV without formulas, and records it', async () => {
    await subscribe('=cmd@example.com');
    await subscribe('ada@example.com');
    const answer = await admin.get(`${SUBSCRIBERS}/export?state=pending`);
    assert.match(answer.headers.get('content-disposition') ?? '', /subscribers\.csv/);
    const [head, ...lines] = answer.text.trim().split('\r\n');
    assert.match(head ?? '', /^id,email,state,language,/);
    assert.deepEqual(
      lines.map((line) => line.split(',')[1]),
      ['ada@example.com', "'=cmd@example.com"],
    );
    assert.deepEqual(await lastAudit(), {
      actor: `operator:${admin.email}`,
      action: 'subscriber.export',
      subject_id: 'subscribers',
      reason: null,
    });
  });
});

describe('GET /subscribers/{id}', () => {
  test('shows changes and outreach beside the facts', async () => {
    const id = await subscribe('ada@example.com');
    await admin.post(`${SUBSCRIBERS}/${id}/unsubscribe`, { reason: REASON });
    const { status, body } = await viewer.get(`${SUBSCRIBERS}/${id}`);
    const { state, outreach, history } = readBody(body);
    assert.deepEqual([status, state, outreach], [200, 'unsubscribed', []]);
    assert.deepEqual(history, [
      {
        occurred_at: clock.now().toISOString(),
        actor: `operator:${admin.email}`,
        action: 'subscriber.unsubscribe',
        reason: REASON,
      },
    ]);
  });

  test('answers 404 for an unknown id', async () => {
    const answer = await admin.get(`${SUBSCRIBERS}/${idOf('nobody@example.com')}`);
    assert.deepEqual([answer.status, answer.body], [404, problem('not_found')]);
  });
});

const resend = (id: string) =>
  admin.post(`${SUBSCRIBERS}/${id}/resend-confirmation`, { reason: REASON });

describe('POST /subscribers/{id}/resend-confirmation', () => {
  test('mails the address again, at most every five minutes', async () => {
    const id = await subscribe('ada@example.com');
    await runDueJobs(context);
    const before = relay.mails.length;
    const tooEarly = await resend(id);
    assert.deepEqual(
      [tooEarly.status, tooEarly.headers.get('retry-after'), await queuedJobs()],
      [429, '300', 0],
    );
    clock.advance(5 * MINUTE_MS);
    assert.deepEqual((await resend(id)).body, { done: true });
    await runDueJobs(context);
    const [again] = relay.mails.slice(before);
    assert.deepEqual(again?.to, ['ada@example.com']);
    assert.equal(again && readHeader(again, 'Subject'), 'Please confirm your subscription');
    assert.deepEqual(await lastAudit(), {
      actor: `operator:${admin.email}`,
      action: 'subscriber.resend_confirmation',
      subject_id: id,
      reason: REASON,
    });
  });

  test('answers a conflict for a subscriber who needs no confirmation', async () => {
    const id = await subscribe('ada@example.com');
    await confirm('ada@example.com');
    const answer = await resend(id);
    const current = readBody(readBody(answer.body)['current']);
    assert.deepEqual([answer.status, current['state']], [409, 'confirmed']);
  });
});

describe('POST /subscribers/{id}/unsubscribe', () => {
  test('lets the address subscribe again', async () => {
    const id = await subscribe('ada@example.com');
    await confirm('ada@example.com');
    const answer = await admin.post(`${SUBSCRIBERS}/${id}/unsubscribe`, { reason: REASON });
    const { state, suppressed_at: at } = readBody(answer.body);
    assert.deepEqual([state, at], ['unsubscribed', clock.now().toISOString()]);
    await subscribe('ada@example.com');
    await runDueJobs(context);
    const { confirmation_mailed_at: mailedAt } = readBody(
      (await admin.get(`${SUBSCRIBERS}/${id}`)).body,
    );
    assert.equal(mailedAt, clock.now().toISOString());
  });

  test('needs a reason', async () => {
    const id = await subscribe('ada@example.com');
    for (const body of [{}, { reason: '' }]) {
      assert.equal((await admin.post(`${SUBSCRIBERS}/${id}/unsubscribe`, body)).status, 422);
    }
  });
});

describe('POST /subscribers/{id}/erase', () => {
  test('deletes the subscription, and suppresses the address', async () => {
    const id = await subscribe('ada@example.com');
    assert.equal((await admin.post(`${SUBSCRIBERS}/${id}/erase`, { reason: REASON })).status, 200);
    assert.equal((await admin.get(`${SUBSCRIBERS}/${id}`)).status, 404);
    const [item] = itemsOf(await admin.get(SUPPRESSIONS));
    assert.deepEqual(item, {
      address_hash: hashOf('ada@example.com'),
      email: null,
      subscriber_id: null,
      reason: 'erased',
      suppressed_at: clock.now().toISOString(),
    });
    const entry = await lastAudit();
    assert.deepEqual([entry.action, entry.subject_id], ['subscriber.erase', id]);
  });

  test('shows an erased address that was entered again without it', async () => {
    const id = await subscribe('ada@example.com');
    await admin.post(`${SUBSCRIBERS}/${id}/erase`, { reason: REASON });
    await subscribe('ada@example.com');
    const { state, email } = readBody((await admin.get(`${SUBSCRIBERS}/${id}`)).body);
    assert.deepEqual([state, email], ['erased', null]);
    const answer = await admin.post(`${SUBSCRIBERS}/${id}/unsubscribe`, { reason: REASON });
    assert.equal(answer.status, 404);
  });
});

describe('suppressions', () => {
  test('are added, found by address or hash, exported and removed', async () => {
    const email = 'Ada@example.com';
    const added = await admin.post(SUPPRESSIONS, { email, reason: REASON });
    assert.deepEqual([added.status, added.body], [200, { done: true }]);
    assert.equal((await lastAudit()).action, 'suppression.add');
    await suppress('old@example.com', 'bounced');
    const digits = hashOf(email).slice(0, 12);
    for (const query of ['?reason=by_hand', '?search=aDA%40example.com', `?search=${digits}`]) {
      const found = itemsOf(await viewer.get(`${SUPPRESSIONS}${query}`));
      assert.deepEqual(
        found.map(({ address_hash: hash }) => hash),
        [hashOf(email)],
        query,
      );
    }
    assert.deepEqual(itemsOf(await viewer.get(`${SUPPRESSIONS}?search=ada`)), []);
    const csv = await admin.get(`${SUPPRESSIONS}/export?reason=bounced`);
    assert.match(
      csv.text,
      new RegExp(`^address_hash,.*\r\n${hashOf('old@example.com')},,,bounced`),
    );
    const body = { address_hash: hashOf(email), reason: REASON };
    assert.equal((await admin.post(`${SUPPRESSIONS}/remove`, body)).status, 200);
    assert.deepEqual(await lastAudit(), {
      actor: `operator:${admin.email}`,
      action: 'suppression.remove',
      subject_id: idOf(email),
      reason: REASON,
    });
    assert.equal((await admin.post(`${SUPPRESSIONS}/remove`, body)).status, 404);
  });

  test('page by time', async () => {
    for (const name of ['a', 'b', 'c']) await suppress(`${name}@example.com`, 'unsubscribed');
    const { items, next_cursor: cursor } = readBody(
      (await viewer.get(`${SUPPRESSIONS}?limit=2`)).body,
    );
    assert.equal(Array.isArray(items) && items.length, 2);
    assert.equal(
      itemsOf(await viewer.get(`${SUPPRESSIONS}?limit=2&cursor=${String(cursor)}`)).length,
      1,
    );
    const later = new Date(clock.now().getTime() + DAY_MS).toISOString();
    assert.deepEqual(itemsOf(await viewer.get(`${SUPPRESSIONS}?since=${later}`)), []);
  });
});
