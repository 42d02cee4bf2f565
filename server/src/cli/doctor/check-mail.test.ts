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

test('a relay that lets us in is told so, and no e-mail is sent', async () => {
  const connections = relay.connections;
  assert.deepEqual(await examine(smtpUrl), [
    {
      check: 'mail',
      status: 'ok',
      symptom: 'From shop@example.com; the relay lets us in, and no e-mail waits.',
    },
  ]);
  assert.deepEqual([relay.connections - connections, relay.mails.length], [1, 0]);
});

test('a password that is refused is a warning with the words of the relay, and without the password', async () => {
  relay.script = { login: { code: 535, words: 'bad credentials' } };
  const [finding, ...others] = await examine(smtpUrl);
  assert.ok(finding !== undefined && others.length === 0);
  assert.equal(finding.status, 'warning');
  assert.match(finding.cause ?? '', /^It failed: login\. It says: 535 .*bad credentials$/u);
  assert.doesNotMatch(JSON.stringify(finding), /s3cret/u);
});

test('what is wrong with TLS is told as that, with what to do', async () => {
  const [finding] = await examine(`smtps://127.0.0.1:${relay.port}`);
  assert.equal(finding?.cause, 'It failed: tls.');
  assert.match(finding.fix ?? '', /smtps:\/\/ for a port that begins with TLS/u);
});

test('a relay that is away, or says nothing, is given up in time', async () => {
  const [finding] = await examine('smtp://127.0.0.1:1');
  assert.equal(finding?.cause, 'It failed: connection.');
  const mute = createServer().listen(0, '127.0.0.1');
  await once(mute, 'listening');
  after(() => mute.close());
  const address = mute.address();
  assert.ok(address !== null && typeof address === 'object');
  const failure = await checkRelay(`smtp://127.0.0.1:${address.port}`, 200);
  assert.deepEqual(failure, { outcome: 'temporary', reason: 'timeout', reply: null });
});

test('every e-mail that waits for somebody is told of, with what to do', async () => {
  await pool.query(
    `insert into key_emails (transaction_id, provider, state, reason, created_at)
     values ('1', 'paddle', 'waiting', 'no_mail', now()), ('2', 'paddle', 'waiting', 'no_address', now()),
            ('3', 'paddle', 'refused', 'smtp_550', now()), ('4', 'paddle', 'refused', 'unconfirmed', now())`,
  );
  const findings = await examine(null);
  assert.deepEqual(
    findings.map(({ status, symptom }) => [status, symptom]),
    [
      ['warning', 'E-mails with keys that wait: 1. Their buyers have no e-mail yet.'],
      ['warning', 'E-mails with keys that wait for an address: 1.'],
      ['warning', 'E-mails with keys that were refused for good: 1.'],
      ['warning', 'E-mails with keys that may not have arrived: 1.'],
    ],
  );
  assert.match(findings[1]?.fix ?? '', /LATCHKEY_PADDLE_API_KEY and start the service again/u);
  assert.match(findings[2]?.fix ?? '', /latchkey mail resend --refused\.$/u);
});
