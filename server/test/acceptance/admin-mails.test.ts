import assert from 'node:assert/strict';
import { before, beforeEach, describe, test } from 'node:test';

import { hashAddress } from '#server/features/suppressions/address-hash.ts';
import type { FailedResult } from '#server/mail/mail-transport.ts';

import { emptyAuditLog } from '../audit-log.ts';
import { startTestService } from '../harness.ts';
import { openBrowser } from '../operator-steps.ts';
import { paddleCustomer, paddleTransactionCompleted } from '../payment-providers/paddle-events.ts';
import { createPaddlePurchase, deliverPaddle } from '../payment-providers/paddle-steps.ts';
import { SECOND_MS } from '../test-clock.ts';
import { problem, readBody, readItems } from './bodies.ts';

const MAILS = '/api/v1/admin/mails';
const TEMPLATES = '/api/v1/admin/mail-templates';
const REQUEST = '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d';
const reason = 'the buyer asked for it';

let failure: FailedResult | null = null;
const mail = {
  send: async () => ({ outcome: 'sent' as const, messageId: '<1@x>' }),
  check: async () => failure,
  close: () => {},
};

const service = await startTestService({ mail, mailFrom: 'Robin Vale <robin@studio.example>' });
const { pool, clock, context } = service;
const admin = await openBrowser(service);
const support = await openBrowser(service, 'support');
const viewer = await openBrowser(service, 'viewer');

const ada = createPaddlePurchase();
const keyId = `key:paddle:${ada.transactionId}`;
const outreachId = `outreach:${REQUEST}:0`;

before(async () => {
  const person = { ...ada, email: 'ada@example.com', name: 'Ada' };
  await deliverPaddle(service, paddleCustomer('created', person));
  await deliverPaddle(service, paddleTransactionCompleted(ada.once));
  await pool.query(
    `insert into key_emails (transaction_id, provider, state, reason, created_at)
     values ($1, 'paddle', 'refused', 'smtp_550', $2)
     on conflict (transaction_id, provider) do update set state = 'refused', reason = 'smtp_550', created_at = excluded.created_at`,
    [ada.transactionId, clock.now()],
  );
  clock.advance(SECOND_MS);
  const subscribed = await service.post('/api/v1/subscribers', { email: 'Bob@Example.com' });
  assert.equal(subscribed.status, 201, subscribed.text);
  clock.advance(SECOND_MS);
  await pool.query(
    `insert into outreach_messages (request_id, position, template, language, address_hash, message_id, state, created_at, ended_at)
     values ($1, 0, 'personal', 'de', decode($2, 'hex'), '<2@x>', 'unknown', $3, $3)`,
    [REQUEST, hashAddress(context.vault, 'ada@example.com'), clock.now()],
  );
});

beforeEach(() => emptyAuditLog(pool));

type Fields = Readonly<Record<string, unknown>>;

async function list(query = ''): Promise<Fields[]> {
  const answer = await viewer.get(`${MAILS}?${query}`);
  assert.equal(answer.status, 200, answer.text);
  const { items } = readBody(answer.body);
  assert.ok(Array.isArray(items));
  return items.map(readBody);
}

const show = async (id: string) =>
  readBody((await viewer.get(`${MAILS}/${encodeURIComponent(id)}`)).body);
const resend = (id: string) =>
  support.post(`${MAILS}/${encodeURIComponent(id)}/resend`, { reason });

const at = (item?: Fields) => [item?.['kind'], item?.['state'], item?.['recipient']];
const kinds = async (query: string) => (await list(query)).map(({ kind }) => kind);
const check = async () => (await support.post('/api/v1/admin/mail-relay/check')).body;

describe('list', () => {
  test('shows the recipient of a campaign message, which is stored with the campaign', async () => {
    const values = [REQUEST, hashAddress(context.vault, 'ada@example.com'), clock.now()];
    await pool.query(
      `insert into outreach_recipients (campaign_id, position, address_hash, email, created_at)
       values ($1, 0, decode($2, 'hex'), 'ada@example.com', $3)`,
      values,
    );
    const [outreach] = await list('kind=outreach');
    assert.deepEqual(at(outreach), ['outreach', 'unconfirmed', 'ada@example.com']);
    assert.equal((await show(outreachId))['recipient'], 'ada@example.com');
    await pool.query('delete from outreach_recipients where campaign_id = $1', [REQUEST]);
  });

  test('lists the mails of all kinds, newest first', async () => {
    const [outreach, confirmation, key] = await list();
    assert.deepEqual(
      [at(outreach), at(confirmation), at(key)],
      [
        ['outreach', 'unconfirmed', null],
        ['confirmation', 'queued', 'Bob@example.com'],
        ['key', 'failed', 'ada@example.com'],
      ],
    );
    assert.deepEqual(key, {
      id: keyId,
      kind: 'key',
      state: 'failed',
      reason: 'smtp_550',
      recipient: 'ada@example.com',
      template: 'key',
      language: null,
      created_at: key?.['created_at'],
      sent_at: null,
    });
    const { body } = await viewer.get(`${MAILS}?limit=1`);
    const cursor = encodeURIComponent(String(readBody(body)['next_cursor']));
    const rest = await list(`limit=2&cursor=${cursor}`);
    assert.deepEqual(
      rest.map(({ kind }) => kind),
      ['confirmation', 'key'],
    );
  });

  test('filters by kind and state, and finds an address or a transaction', async () => {
    assert.deepEqual(await kinds('kind=key'), ['key']);
    assert.deepEqual(await kinds('state=failed'), ['key']);
    assert.deepEqual(await kinds('state=unconfirmed'), ['outreach']);
    assert.deepEqual(await kinds('state=queued'), ['confirmation']);
    for (const state of ['held', 'sending', 'sent']) {
      assert.deepEqual(await kinds(`state=${state}`), [], state);
    }
    assert.deepEqual(await kinds('search=ADA@example.com'), ['outreach', 'key']);
    assert.deepEqual(await kinds('search=bob@example.com'), ['confirmation']);
    assert.deepEqual(await kinds(`search=${ada.transactionId}`), ['key']);
    assert.deepEqual(await kinds('search=nobody'), []);
  });
});

describe('export', () => {
  test('has the mails of a filter, after an audit entry; 403 for a viewer', async () => {
    const answer = await support.get(`${MAILS}/export?kind=key&search=ADA@example.com`);
    assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="mails.csv"');
    const [head, row, ...others] = answer.text.split('\r\n');
    assert.equal(head, 'id,kind,state,reason,recipient,template,language,created_at,sent_at');
    assert.match(
      row ?? '',
      new RegExp(`^${keyId},key,failed,smtp_550,ada@example\\.com,key,,[^,]+Z,$`, 'u'),
    );
    assert.deepEqual(others, ['']);
    const { rows } = await pool.query('select actor, action, details from audit_log');
    assert.deepEqual(rows, [
      {
        actor: `operator:${support.email}`,
        action: 'mail.export',
        details: { kind: 'key' },
      },
    ]);
    const all = await support.get(`${MAILS}/export?sort=created_at`);
    assert.deepEqual(
      all.text.split('\r\n').map((line) => line.split(',')[1]),
      ['kind', 'key', 'confirmation', 'outreach', undefined],
    );
    assert.equal((await viewer.get(`${MAILS}/export`)).status, 403);
  });
});

describe('show', () => {
  test('explains a refused e-mail with keys, and names its licenses', async () => {
    const { summary, advice, can_resend: canResend, licenses } = await show(keyId);
    assert.deepEqual([summary, canResend], ['The mail relay did not accept it (smtp_550).', true]);
    assert.match(String(advice), /^Correct the address at the payment provider/);
    assert.ok(Array.isArray(licenses));
    assert.deepEqual(
      licenses.map(readBody).map(({ product, sent }) => [product, sent]),
      [['personal', false]],
    );
  });

  test('404: unknown mails', async () => {
    for (const id of [
      'x',
      'key:paddle:txn_x',
      `outreach:${REQUEST}:9`,
      `confirmation:${REQUEST}`,
    ]) {
      const answer = await viewer.get(`${MAILS}/${encodeURIComponent(id)}`);
      assert.equal(answer.status, 404, id);
    }
  });
});

describe('send again', () => {
  test('queues an e-mail with keys, with an audit entry', async () => {
    const answer = await resend(keyId);
    assert.deepEqual([answer.status, answer.body], [200, { queued: 1 }]);
    assert.equal((await show(keyId))['state'], 'queued');
    const { rows } = await pool.query('select actor, action, subject_id, reason from audit_log');
    const subject = { action: 'mail.resend', subject_id: ada.transactionId, reason };
    assert.deepEqual(rows, [{ actor: `operator:${support.email}`, ...subject }]);
  });

  test('409: outreach, which stores no address', async () => {
    const { status, body } = await resend(outreachId);
    const detail = 'No address is stored for this mail: send it in a new outreach request.';
    assert.deepEqual([status, body], [409, problem('not_possible', { detail })]);
  });

  test('queues every refused e-mail', async () => {
    await pool.query(`update key_emails set state = 'refused', reason = 'smtp_554'`);
    const answer = await admin.post(`${MAILS}/resend`, { which: 'refused', reason });
    assert.deepEqual([answer.status, answer.body], [200, { queued: 1 }]);
  });
});

describe('templates', () => {
  test('previews every template in each language, as text and as a document without script', async () => {
    const { body } = await viewer.get(TEMPLATES);
    const { items } = readBody(body);
    assert.ok(Array.isArray(items));
    assert.equal(items.length, 11);
    for (const { name } of items.map(readBody)) {
      for (const language of ['en', 'fr', 'de']) {
        const path = `${TEMPLATES}/${String(name)}`;
        const text = readBody((await viewer.get(`${path}?language=${language}`)).body);
        assert.deepEqual([text['name'], text['language']], [name, language]);
        const html = await viewer.get(`${path}/html?language=${language}`);
        assert.ok(html.text.includes(`<html lang="${language}">`));
        const policy = html.headers.get('content-security-policy') ?? '';
        assert.match(policy, /^default-src 'none'; style-src 'unsafe-inline'; sandbox;/);
      }
    }
  });

  test('addresses the recipient by the given name, where the mail has one', async () => {
    const { body } = await viewer.get(TEMPLATES);
    const named = readItems(body).filter((each) => each['has_name'] === true);
    assert.deepEqual(
      named.map(({ name }) => name),
      ['personal', 'sellers', 'update_personal', 'update_sellers', 'pi_tutorials'],
    );
    const path = `${TEMPLATES}/personal`;
    const readText = async (query: string) =>
      String(readBody((await viewer.get(`${path}?${query}`)).body)['text']);
    assert.match(await readText('name=Grace%20Hopper'), /Grace Hopper/);
    assert.match(await readText('language=de'), /Ada/);
    assert.doesNotMatch(await readText('name='), /Ada/);
    const { text: html } = await viewer.get(`${path}/html?name=%3Cb%3EEve`);
    assert.ok(html.includes('&lt;b&gt;Eve') && !html.includes('<b>Eve'));
  });

  test('404: an unknown template', async () => {
    for (const path of [`${TEMPLATES}/spam`, `${TEMPLATES}/spam/html`]) {
      assert.equal((await viewer.get(path)).status, 404);
    }
  });
});

test('checks the mail relay without sending anything', async () => {
  const from = 'Robin Vale <robin@studio.example>';
  const fine = { usable: true, summary: 'The relay accepts the login.', advice: null, from };
  assert.deepEqual(await check(), fine);
  failure = { outcome: 'permanent', reason: 'login', reply: '535 no' };
  assert.deepEqual(await check(), {
    usable: false,
    summary: 'The relay cannot be used: login. Its reply: 535 no',
    advice: 'Check LATCHKEY_SMTP_URL (host, port, user, password) and the firewall.',
    from,
  });
});
