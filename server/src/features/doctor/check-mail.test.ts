import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, beforeEach, test } from 'node:test';

import { checkRelay } from '#server/mail/relay.ts';

import { openTestPool } from '../../../test/database-pool.ts';
import { startMailRelay } from '../../../test/mail-relay.ts';
import { checkMail } from './check-mail.ts';

const pool = await openTestPool();
const relay = await startMailRelay({ login: 'accept' });
after(() => relay.close());

const config = { mail: { from: 'shop@example.com', dkim: null } };
const smtpUrl = `smtp://shop:s3cret@127.0.0.1:${relay.port}`;
const examine = (url: string | null) =>
  checkMail(pool, config, { smtpUrl: url, paddleApiKey: null });

beforeEach(async () => {
  relay.script = { login: 'accept' };
  await pool.query('truncate key_emails');
});

test('logs in to the relay without sending an e-mail', async () => {
  const connections = relay.connections;
  assert.deepEqual(
    (await examine(smtpUrl)).map(({ check, status }) => [check, status]),
    [['mail', 'ok']],
  );
  assert.deepEqual([relay.connections - connections, relay.mails.length], [1, 0]);
});

test('reports a rejected password with the reply of the relay, without the password', async () => {
  relay.script = { login: { code: 535, words: 'bad credentials' } };
  const [finding, ...others] = await examine(smtpUrl);
  assert.ok(finding !== undefined && others.length === 0);
  assert.equal(finding.status, 'warning');
  assert.equal(finding.code, 'mail.relay_unusable');
  assert.equal(finding.facts?.['reason'], 'login');
  assert.match(finding.cause ?? '', /535 .*bad credentials$/u);
  assert.doesNotMatch(JSON.stringify(finding), /s3cret/u);
});

test('reports a TLS error, with a fix', async () => {
  const [finding] = await examine(`smtps://127.0.0.1:${relay.port}`);
  assert.equal(finding?.facts?.['reason'], 'tls');
  assert.match(finding.fix ?? '', /smtps:\/\//u);
});

test('reports a relay that refuses connections or does not respond', async () => {
  const [finding] = await examine('smtp://127.0.0.1:1');
  assert.equal(finding?.facts?.['reason'], 'connection');
  const mute = createServer().listen(0, '127.0.0.1');
  await once(mute, 'listening');
  after(() => mute.close());
  const address = mute.address();
  assert.ok(address !== null && typeof address === 'object');
  const failure = await checkRelay(`smtp://127.0.0.1:${address.port}`, 200);
  assert.deepEqual(failure, { outcome: 'temporary', reason: 'timeout', reply: null, tls: null });
});

test('counts waiting, refused and unconfirmed e-mails, with a fix', async () => {
  await pool.query(
    `insert into key_emails (transaction_id, provider, state, reason, created_at)
     values ('1', 'paddle', 'waiting', 'no_mail', now()), ('2', 'paddle', 'waiting', 'no_address', now()),
            ('3', 'paddle', 'refused', 'smtp_550', now()), ('4', 'paddle', 'refused', 'unconfirmed', now())`,
  );
  const findings = await examine(null);
  assert.deepEqual(
    findings.map(({ status, code, facts }) => [status, code, facts]),
    [
      ['warning', 'key_emails.no_mail', { emails: 1 }],
      ['warning', 'key_emails.no_address', { emails: 1 }],
      ['warning', 'key_emails.refused', { emails: 1 }],
      ['warning', 'key_emails.unconfirmed', { emails: 1 }],
    ],
  );
  assert.match(findings[1]?.fix ?? '', /LATCHKEY_PADDLE_API_KEY/u);
  assert.match(findings[2]?.fix ?? '', /latchkey mail resend --refused\.$/u);
});
