import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, test } from 'node:test';

import { eventually } from '../../test/eventually.ts';
import { readHeader, readParts, startMailRelay, type RelayScript } from '../../test/mail-relay.ts';
import { classifyFailure } from './classify-failure.ts';
import type { MailMessage } from './mail-transport.ts';
import { parseRelayUrl } from './relay.ts';
import { createSmtpTransport, type SmtpOptions } from './smtp-transport.ts';

const closing: (() => unknown)[] = [];
after(async () => {
  for (const close of closing.toReversed()) await close();
});

const message: MailMessage = {
  to: { address: 'ann@example.org', name: 'Ann, "the buyer"' },
  subject: 'Für Sie: ein Schlüssel\r\nBcc: everybody@example.org',
  text: 'Grüße, in plain text',
  html: '<p>Grüße, in HTML</p>',
  messageToken: 'key-1',
};

async function setUp(script: RelayScript = {}, options: Partial<SmtpOptions> = {}) {
  const relay = await startMailRelay(script);
  const transport = createSmtpTransport({
    url: relay.url,
    from: 'Example Shop <shop@example.com>',
    dkim: null,
    ...options,
  });
  closing.push(
    () => relay.close(),
    () => transport.close(),
  );
  return { relay, transport };
}

test('sends HTML and text with the given id, addresses and headers', async () => {
  const { relay, transport } = await setUp();
  const result = await transport.send(message);
  assert.deepEqual(result, { outcome: 'sent', messageId: '<key-1@example.com>' });
  assert.equal(relay.mails.length, 1);
  const [mail = { from: '', to: [], raw: '' }] = relay.mails;
  assert.deepEqual([mail.from, mail.to], ['shop@example.com', ['ann@example.org']]);
  assert.equal(readHeader(mail, 'From'), 'Example Shop <shop@example.com>');
  assert.equal(readHeader(mail, 'To'), '"Ann, \\"the buyer\\"" <ann@example.org>');
  assert.equal(readHeader(mail, 'Message-ID'), '<key-1@example.com>');
  assert.equal(readHeader(mail, 'Auto-Submitted'), 'auto-generated');
  assert.equal(readHeader(mail, 'Bcc'), null, 'a line break in the subject adds no header field');
  const parts = readParts(mail);
  assert.match(parts, /Grüße, in plain text/u);
  assert.match(parts, /<p>Grüße, in HTML<\/p>/u);
});

for (const address of [
  'ann@example.org, eve@evil.example',
  'ann@example.org; eve@evil.example',
  'Eve <eve@evil.example>',
  '<eve@evil.example>',
  'ann@example.org <eve@evil.example>',
  'friends: ann@example.org, eve@evil.example;',
  'ann@example.org\r\nRCPT TO:<eve@evil.example>',
  '"ann@example.org, eve"@evil.example',
  'ann@example.org\0',
  '',
]) {
  test(`rejects what is not exactly one address: ${JSON.stringify(address)}`, async () => {
    const { relay, transport } = await setUp();
    const result = await transport.send({ ...message, to: { address, name: 'Ann' } });
    assert.deepEqual(result, { outcome: 'permanent', reason: 'address', reply: null });
    assert.equal((await transport.send(message)).outcome, 'sent');
    assert.deepEqual(
      relay.mails.map(({ to }) => to),
      [['ann@example.org']],
    );
  });
}

for (const [name, expected] of [
  ['Eve <eve@evil.example>, Mallory', '"Eve <eve@evil.example>, Mallory" <ann@example.org>'],
  ['eve@evil.example', '"eve@evil.example" <ann@example.org>'],
  ['Ann\r\nBcc: eve@evil.example', '"Ann Bcc: eve@evil.example" <ann@example.org>'],
  ['Ännchen, die Käuferin', '=?UTF-8?Q?=C3=84nnchen=2C_die_K=C3=A4uferin?= <ann@example.org>'],
] as const) {
  test(`sends a display name as text: ${JSON.stringify(name)}`, async () => {
    const { relay, transport } = await setUp();
    await transport.send({ ...message, to: { address: 'ann@example.org', name } });
    const [mail = { from: '', to: [], raw: '' }] = relay.mails;
    assert.deepEqual(mail.to, ['ann@example.org']);
    assert.equal(readHeader(mail, 'To'), expected);
    assert.equal(readHeader(mail, 'Bcc'), null);
  });
}

test('sends to a non-ASCII address', async () => {
  const { relay, transport } = await setUp();
  const addresses = ['ann@bücher.example', 'jürgen@bücher.example'];
  for (const address of addresses) {
    await transport.send({ ...message, to: { address, name: null } });
  }
  assert.deepEqual(
    relay.mails.map(({ to }) => to),
    addresses.map((address) => [address]),
  );
});

test('reuses connections', async () => {
  const { relay, transport } = await setUp();
  for (let count = 0; count < 5; count++) await transport.send(message);
  assert.deepEqual([relay.mails.length, relay.connections], [5, 1]);
});

test('signs messages with the DKIM key (RFC 6376)', async () => {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const dkim = { domain: 'example.com', selector: 'mail', privateKey };
  const { relay, transport } = await setUp({}, { dkim });
  await transport.send(message);
  const [mail = { from: '', to: [], raw: '' }] = relay.mails;
  assert.match(readHeader(mail, 'DKIM-Signature') ?? '', /d=example\.com;.*s=mail;.*b=/u);
});

for (const [what, script, expected] of [
  [
    'an address refused permanently',
    { recipient: { code: 550, words: 'no such user' } },
    ['permanent', 'smtp_550'],
  ],
  [
    'an address refused temporarily',
    { recipient: { code: 450, words: 'grey-listed' } },
    ['temporary', 'smtp_450'],
  ],
  [
    'a message refused permanently',
    { message: { code: 554, words: 'looks like spam' } },
    ['permanent', 'smtp_554'],
  ],
  [
    'a message refused temporarily',
    { message: { code: 452, words: 'disk full' } },
    ['temporary', 'smtp_452'],
  ],
  // An operator can correct this, so the e-mail is retried.
  [
    'the sender refused',
    { sender: { code: 553, words: 'not your domain' } },
    ['temporary', 'smtp_553'],
  ],
] as const) {
  test(`${what}: ${expected.join(', ')}; the next message is sent`, async () => {
    const { relay, transport } = await setUp(script);
    const result = await transport.send(message);
    assert.ok(result.outcome !== 'sent');
    assert.deepEqual([result.outcome, result.reason], expected);
    assert.match(result.reply ?? '', /^\d{3} /u);
    relay.script = {};
    assert.equal((await transport.send(message)).outcome, 'sent');
  });
}

test('a refused login is temporary and does not reveal the password', async () => {
  const { relay, transport } = await setUp({ login: { code: 535, words: 'bad credentials' } });
  const url = `smtp://shop:s3cret%40@127.0.0.1:${relay.port}`;
  transport.close();
  const other = createSmtpTransport({ url, from: 'shop@example.com', dkim: null });
  closing.push(() => other.close());
  const refused = await other.send(message);
  assert.ok(refused.outcome === 'temporary' && refused.reason === 'login');
  assert.doesNotMatch(JSON.stringify(refused), /s3cret/u);
  relay.script = { login: 'accept' };
  assert.equal((await other.send(message)).outcome, 'sent');
});

test('a relay that sends no greeting or is unreachable fails within the timeout', async () => {
  const limits = { greetingMs: 200 };

  const mute = createServer().listen(0, '127.0.0.1');
  await once(mute, 'listening');
  closing.push(() => mute.close());
  const address = mute.address();
  assert.ok(address !== null && typeof address === 'object');
  for (const [port, reason] of [
    [address.port, 'timeout'],
    [1, 'connection'],
  ] as const) {
    const url = `smtp://127.0.0.1:${port}`;
    const other = createSmtpTransport({ url, from: 'shop@example.com', dkim: null, limits });
    closing.push(() => other.close());
    const startedAt = performance.now();
    const result = await other.send(message);
    assert.deepEqual(result, { outcome: 'temporary', reason, reply: null });
    // The default timeout is ten seconds.
    assert.ok(performance.now() - startedAt < 8_000);
  }
});

test('distinguishes a relay without TLS from an unreachable one', async () => {
  const { relay } = await setUp();
  const url = `smtps://127.0.0.1:${relay.port}`;
  const other = createSmtpTransport({ url, from: 'shop@example.com', dkim: null });
  closing.push(() => other.close());
  assert.deepEqual(await other.send(message), {
    outcome: 'temporary',
    reason: 'tls',
    reply: null,
  });
});

for (const [what, error, reason] of [
  ['an expired certificate', { code: 'ESOCKET', originalCode: 'CERT_HAS_EXPIRED' }, 'tls'],
  [
    'a self-signed certificate',
    { code: 'ESOCKET', originalCode: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
    'tls',
  ],
  [
    'a certificate for another name',
    { code: 'ESOCKET', originalCode: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    'tls',
  ],
  ['a TLS alert', { code: 'ESOCKET', originalCode: 'EPROTO' }, 'tls'],
  ['refused STARTTLS', { code: 'ETLS', command: 'STARTTLS', responseCode: 500 }, 'tls'],
  ['a broken connection', { code: 'ESOCKET', originalCode: 'ECONNRESET' }, 'connection'],
  ['an unknown host name', { code: 'EDNS', originalCode: 'ENOTFOUND' }, 'connection'],
] as const) {
  test(`classifies ${what} as ${reason}, temporary`, () => {
    const failure = classifyFailure(Object.assign(new Error(what), error));
    assert.deepEqual([failure.outcome, failure.reason], ['temporary', reason]);
  });
}

const unknown = (reason: string) => ({ outcome: 'unknown', reason, reply: null });

test('a message is unknown when the relay received all of it without replying', async () => {
  const timedOut = await setUp({ slowMs: 1_000 }, { limits: { replyMs: 150 } });
  assert.deepEqual(await timedOut.transport.send(message), unknown('timeout'));
  const { relay, transport } = await setUp({ slowMs: 3_000 });
  const ending = new AbortController();
  const ended = transport.send(message, ending.signal);
  await eventually(() => relay.mails.length === 1);
  ending.abort();
  assert.deepEqual(await ended, unknown('deadline'));
  relay.script = { hangUp: true };
  assert.deepEqual(await transport.send(message), unknown('connection'));
  relay.script = { message: { code: 451, words: 'try again' } };
  const refused = await transport.send(message);
  assert.ok(refused.outcome === 'temporary' && refused.reason === 'smtp_451');
});

test('the timeout of the reply starts after the transfer', async () => {
  const limits = { transferMs: 1_000, replyMs: 20_000 };
  const { transport } = await setUp({ slowMs: 1_300 }, { limits });
  assert.equal((await transport.send(message)).outcome, 'sent');
});

test('a message is not sent when the transfer exceeds its timeout', async () => {
  const { relay, transport } = await setUp(
    { silentAfterSender: true },
    { limits: { transferMs: 200 } },
  );
  const result = await transport.send(message);
  assert.deepEqual(result, { outcome: 'temporary', reason: 'timeout', reply: null });
  relay.script = {};
  const ended = await transport.send(message, AbortSignal.abort());
  assert.deepEqual(ended, { outcome: 'temporary', reason: 'deadline', reply: null });
  assert.equal(relay.mails.length, 0);
});

test('requires TLS for a password, except on this machine', () => {
  const auth = { user: 'me', pass: 'p@ss' };
  for (const [url, expected] of [
    ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, secure: false }],
    [
      'smtp://me:p%40ss@mail.example.com:25',
      { host: 'mail.example.com', port: 25, secure: false, requireTLS: true, auth },
    ],
    [
      'smtps://me:p%40ss@mail.example.com',
      { host: 'mail.example.com', port: 465, secure: true, requireTLS: false, auth },
    ],
    [
      'smtp://me:p%40ss@127.0.0.1:2525',
      { host: '127.0.0.1', port: 2525, secure: false, requireTLS: false, auth },
    ],
    [
      'smtp://me:p%40ss@[::1]:2525',
      { host: '::1', port: 2525, secure: false, requireTLS: false, auth },
    ],
    [
      'smtp://me:p%40ss@127.0.0.1.example.com',
      { host: '127.0.0.1.example.com', port: 587, secure: false, requireTLS: true, auth },
    ],
  ] as const) {
    assert.deepEqual(parseRelayUrl(url), expected, url);
  }
});
