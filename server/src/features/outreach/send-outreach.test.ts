import assert from 'node:assert/strict';
import { createPublicKey, createVerify, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { readHeader, readParts, type RelayedMail } from '../../../test/mail-relay.ts';
import {
  errorsOf,
  manyRecipients,
  startOutreachService,
  type OutreachService,
} from '../../../test/outreach-steps.ts';
import { hashAddress } from '../suppressions/address-hash.ts';
import { insertSuppression } from '../suppressions/queries/suppressions.ts';
import { openUnsubscribeToken } from '../suppressions/unsubscribe.ts';

const ordinary = await startOutreachService();

const ada = { email: 'ada@example.org', name: 'Ada' };

/** Returns the mails that the relay accepted during the work. */
async function mailsOf(
  { relay }: OutreachService,
  work: () => Promise<unknown>,
): Promise<readonly RelayedMail[]> {
  const before = relay.mails.length;
  await work();
  return relay.mails.slice(before);
}

test('sends a message with its texts, addresses and unsubscribe headers', async () => {
  const { sendWell, service } = ordinary;
  const recipients = [
    { email: 'Zoë.Müller@Example.ORG', name: ' Zoë "Z" Müller,\r\nBcc: x@y.example ' },
  ];
  const [mail, ...others] = await mailsOf(ordinary, async () => {
    const answer = await sendWell({ template: 'update_sellers', language: 'de', recipients });
    assert.deepEqual(
      [answer.total, answer.sent, answer.failed, errorsOf(answer)],
      [1, 1, 0, [null]],
    );
    const [result] = answer.results;
    assert.equal(result?.email, 'Zoë.Müller@example.org');
    assert.match(result.message_id ?? '', /^<outreach-[0-9a-f-]{36}@example\.com>$/u);
  });
  assert.ok(mail !== undefined && others.length === 0);
  assert.deepEqual([mail.from, mail.to], ['shop@example.com', ['Zoë.Müller@example.org']]);
  assert.equal(readHeader(mail, 'Bcc'), null);
  assert.equal(readHeader(mail, 'Content-Language'), 'de');
  assert.equal(readHeader(mail, 'List-Unsubscribe-Post'), 'List-Unsubscribe=One-Click');
  const url = /^<https:\/\/license\.example\.com\/u\/(?<token>[\w-]+)>$/u.exec(
    readHeader(mail, 'List-Unsubscribe')?.replaceAll(' ', '') ?? '',
  );
  const token = url?.groups?.['token'] ?? '';
  assert.equal(openUnsubscribeToken(service.context.vault, token), 'Zoë.Müller@example.org');
  const words = readParts(mail);
  assert.match(words, /^Guten Tag Zoë "Z" Müller, Bcc: x@y\.example,$/mu);
  assert.match(words, /<html lang="de">/u);
  assert.doesNotMatch(words, /null|undefined/u);
});

test('greets a recipient without a name neutrally', async () => {
  for (const name of [undefined, null, ' ']) {
    const recipient = name === undefined ? { email: ada.email } : { email: ada.email, name };
    const [mail] = await mailsOf(ordinary, () => ordinary.sendWell({ recipients: [recipient] }));
    assert.ok(mail !== undefined);
    assert.match(readParts(mail), /^Hello,$/mu);
    assert.equal(readHeader(mail, 'To'), 'ada@example.org');
  }
});

test('sends once to each address, and returns a result for each recipient', async () => {
  const { sendWell, service } = ordinary;
  const people = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@people.example`);
  const unwanted = 'e@people.example';
  await insertSuppression(service.pool, {
    addressHash: hashAddress(service.context.vault, unwanted),
    reason: 'unsubscribed',
    suppressedAt: service.clock.now(),
  });
  const spelling = fc.constantFrom(...people, ...people.map((email) => email.toUpperCase()));
  await fc.assert(
    fc.asyncProperty(fc.array(spelling, { minLength: 1, maxLength: 30 }), async (emails) => {
      const seen = new Set<string>();
      const expected = emails.map((email) => {
        const normal = email.toLowerCase();
        if (seen.has(normal)) return 'duplicate';
        seen.add(normal);
        return normal === unwanted ? 'suppressed' : null;
      });
      const mails = await mailsOf(ordinary, async () => {
        const answer = await sendWell({ recipients: emails.map((email) => ({ email })) });
        assert.deepEqual(errorsOf(answer), expected);
        assert.deepEqual(
          answer.results.map(({ email }) => email),
          emails.map((email) => email.replace(/@.*/u, (domain) => domain.toLowerCase())),
        );
        const sent = expected.filter((error) => error === null).length;
        assert.deepEqual(
          [answer.total, answer.sent, answer.failed],
          [emails.length, sent, emails.length - sent],
        );
        for (const { success, error, message_id: id } of answer.results) {
          assert.equal(success, error === null);
          assert.equal(id === null, !success);
        }
      });
      const mailed = mails.flatMap(({ to }) => to.map((address) => address.toLowerCase()));
      assert.deepEqual(
        mailed.toSorted(),
        [...seen].filter((email) => email !== unwanted).toSorted(),
      );
    }),
    { numRuns: 25 },
  );
});

test("returns the relay's reply to each recipient, and retries a deferred one once", async () => {
  const tries = new Map<string, number>();
  const outreach = await startOutreachService({
    script: {
      forRecipient: (address) => {
        const count = (tries.get(address) ?? 0) + 1;
        tries.set(address, count);
        if (address.startsWith('gone')) {
          return { recipient: { code: 550, words: `5.1.1 <${address}> user unknown` } };
        }
        const busy = { recipient: { code: 451, words: '4.7.1 greylisted' } };
        if (address.startsWith('busy')) return busy;
        return address.startsWith('later') && count === 1 ? busy : undefined;
      },
    },
  });
  const recipients = ['ada', 'gone', 'busy', 'later', 'eve'].map((name) => ({
    email: `${name}@example.org`,
  }));
  const answer = await outreach.sendWell({ recipients });
  assert.deepEqual(errorsOf(answer), [
    null,
    'smtp_550: 5.1.1 <address> user unknown',
    'smtp_451: 4.7.1 greylisted',
    null,
    null,
  ]);
  assert.deepEqual([answer.sent, answer.failed], [3, 2]);
  // The relay sees an accepted recipient twice: at RCPT, and with the message.
  assert.deepEqual([tries.get('gone@example.org'), tries.get('busy@example.org')], [1, 2]);
  const { rows } = await outreach.service.pool.query<{ state: string; error: string | null }>(
    'select state, error from outreach_messages order by position',
  );
  assert.deepEqual(
    rows.map(({ state }) => state),
    ['sent', 'failed', 'failed', 'sent', 'sent'],
  );
  assert.equal(rows[2]?.error, 'smtp_451: 4.7.1 greylisted');
});

test('reports an unconfirmed message as unknown, with its id', async () => {
  const outreach = await startOutreachService({
    script: { hangUp: true },
    smtp: { limits: { replyMs: 500 } },
  });
  const [result] = (await outreach.sendWell({ recipients: [ada] })).results;
  assert.deepEqual([result?.success, result?.error], [false, 'unknown']);
  assert.match(result?.message_id ?? '', /^<outreach-/u);
});

test('stops after a few refused logins', async () => {
  const outreach = await startOutreachService({
    script: { login: { code: 535, words: 'no' } },
    smtp: {},
  });
  const { port } = outreach.relay;
  const locked = await startOutreachService({
    smtp: { url: `smtp://shop:wrong@127.0.0.1:${port}` },
  });
  const answer = await locked.sendWell({ recipients: manyRecipients(100) });
  assert.deepEqual(new Set(errorsOf(answer)), new Set(['login']));
  assert.ok(outreach.relay.connections <= 10, `${outreach.relay.connections} logins`);
});

test('fails all recipients of an unreachable relay, and recovers with it', async () => {
  const outreach = await startOutreachService({ smtp: { url: 'smtp://127.0.0.1:1' } });
  const startedAt = performance.now();
  const answer = await outreach.sendWell({ recipients: manyRecipients(500) });
  assert.deepEqual(new Set(errorsOf(answer)), new Set(['connection']));
  assert.deepEqual([answer.total, answer.sent, answer.failed], [500, 0, 500]);
  assert.ok(performance.now() - startedAt < 5_000);
});

test('answers at the deadline with the results so far', async () => {
  const outreach = await startOutreachService({
    script: { slowMs: 200 },
    service: { outreachLimits: { totalMs: 2_500 } },
  });
  const startedAt = performance.now();
  const answer = await outreach.sendWell({ recipients: manyRecipients(500) });
  // All of them would need twenty seconds.
  assert.ok(performance.now() - startedAt < 10_000);
  const errors = errorsOf(answer);
  const count = (error: string | null) => errors.filter((each) => each === error).length;
  // Five at once, twelve times at most.
  assert.ok(count(null) >= 5 && count(null) <= 60, `${count(null)} were sent`);
  // Five messages were in progress at the deadline.
  assert.ok(count('unknown') <= 5);
  assert.equal(count(null) + count('unknown') + count('deadline'), 500);
});

test('sends to 500 recipients before the deadline', async () => {
  // `npm run bench` measures the speed.
  const answer = await ordinary.sendWell({ recipients: manyRecipients(500) });
  assert.equal(answer.sent, 500);
});

test('signs messages including the unsubscribe headers (RFC 6376)', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const dkim = { domain: 'example.com', selector: 'mail', privateKey };
  const outreach = await startOutreachService({ smtp: { dkim } });
  const [mail] = await mailsOf(outreach, () => outreach.sendWell({ recipients: [ada] }));
  assert.ok(mail !== undefined);
  const signature = readHeader(mail, 'DKIM-Signature') ?? '';
  const signed = /\bh=(?<names>[^;]+)/u.exec(signature)?.groups?.['names'] ?? '';
  const names = signed.replaceAll(' ', '').toLowerCase().split(':');
  assert.ok(names.includes('list-unsubscribe') && names.includes('list-unsubscribe-post'));
  assert.equal(verifyDkim(mail, signature, names, publicKey), true);
  assert.equal(verifyDkim(mail, signature, names.slice(1), publicKey), false);
});

const relax = (name: string, value: string) =>
  `${name.toLowerCase()}:${value.replaceAll(/\s+/gu, ' ').trim()}`;

/** RFC 6376 §3.7, the header part, in relaxed canonicalization (§3.4.2). */
function verifyDkim(
  mail: RelayedMail,
  signature: string,
  names: readonly string[],
  publicKey: string,
): boolean {
  const lines = names.map((name) => relax(name, readHeader(mail, name) ?? ''));
  const unsigned = signature.replace(/(?<tag>\bb=)[^;]*/u, '$<tag>');
  const text = [...lines, relax('dkim-signature', unsigned)].join('\r\n');
  const bytes = /\bb=(?<base64>[^;]+)/u.exec(signature)?.groups?.['base64'] ?? '';
  return createVerify('sha256')
    .update(text)
    .verify(createPublicKey(publicKey), Buffer.from(bytes.replaceAll(' ', ''), 'base64'));
}

test('stores and logs no address and no name', async () => {
  const { sendWell, service } = ordinary;
  const recipients = [{ email: 'secret.person@example.org', name: 'Secret Person' }];
  await sendWell({ recipients }, { 'idempotency-key': 'about secret.person@example.org' });
  const { rows } = await service.pool.query<{ row: string }>(
    `select row_to_json(m)::text as row from outreach_messages m
     union all select row_to_json(k)::text from outreach_idempotency_keys k`,
  );
  assert.ok(rows.length > 1);
  const everything = rows.map(({ row }) => row).join('\n') + service.log.join('\n');
  assert.doesNotMatch(everything, /secret/iu);
});
