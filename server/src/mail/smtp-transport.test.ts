import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, test } from 'node:test';

import { eventually } from '../../test/eventually.ts';
import { readHeader, readParts, startMailRelay, type RelayScript } from '../../test/mail-relay.ts';
import { classifyFailure } from './classify-failure.ts';
import type { MailMessage } from './mail-transport.ts';
import { createSmtpTransport, readRelayUrl, type SmtpOptions } from './smtp-transport.ts';

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

test('a message arrives in both forms, with the id, the addresses and the headers that it was given', async () => {
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
  assert.equal(readHeader(mail, 'Bcc'), null, 'a line break in a subject begins no header');
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
  test(`what is not exactly one address is sent to nobody: ${JSON.stringify(address)}`, async () => {
    const { relay, transport } = await setUp();
    const result = await transport.send({ ...message, to: { address, name: 'Ann' } });
    assert.deepEqual(result, { outcome: 'lasting', reason: 'address', answer: null });
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
  test(`a name is a name, whatever it says: ${JSON.stringify(name)}`, async () => {
    const { relay, transport } = await setUp();
    await transport.send({ ...message, to: { address: 'ann@example.org', name } });
    const [mail = { from: '', to: [], raw: '' }] = relay.mails;
    assert.deepEqual(mail.to, ['ann@example.org']);
    assert.equal(readHeader(mail, 'To'), expected);
    assert.equal(readHeader(mail, 'Bcc'), null);
  });
}

test('an address beyond ASCII is one recipient', async () => {
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

test('connections are kept for the next message', async () => {
  const { relay, transport } = await setUp();
  for (let count = 0; count < 5; count++) await transport.send(message);
  assert.deepEqual([relay.mails.length, relay.connections], [5, 1]);
});

test('with a key, messages are signed (RFC 6376)', async () => {
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
    'an address refused for good',
    { recipient: { code: 550, words: 'no such user' } },
    ['lasting', 'smtp_550'],
  ],
  [
    'an address refused for now',
    { recipient: { code: 450, words: 'grey-listed' } },
    ['temporary', 'smtp_450'],
  ],
  [
    'a message refused for good',
    { message: { code: 554, words: 'looks like spam' } },
    ['lasting', 'smtp_554'],
  ],
  [
    'a message refused for now',
    { message: { code: 452, words: 'disk full' } },
    ['temporary', 'smtp_452'],
  ],
  // What an operator can put right is no reason to give an e-mail up.
  [
    'our own sender refused',
    { sender: { code: 553, words: 'not your domain' } },
    ['temporary', 'smtp_553'],
  ],
] as const) {
  test(`${what}: ${expected.join(', ')}; a later message is sent`, async () => {
    const { relay, transport } = await setUp(script);
    const result = await transport.send(message);
    assert.ok(result.outcome !== 'sent');
    assert.deepEqual([result.outcome, result.reason], expected);
    assert.match(result.answer ?? '', /^\d{3} /u);
    relay.script = {};
    assert.equal((await transport.send(message)).outcome, 'sent');
  });
}

test('a login that is refused is temporary, and its password is not told', async () => {
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

test('a relay that does not greet, or is not there, is given up in time', async () => {
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
    assert.deepEqual(result, { outcome: 'temporary', reason, answer: null });
    // Without these limits it is waited for ten seconds.
    assert.ok(performance.now() - startedAt < 8_000);
  }
});

test('a relay that does not speak TLS where it is expected is told from one that is not there', async () => {
  const { relay } = await setUp();
  const url = `smtps://127.0.0.1:${relay.port}`;
  const other = createSmtpTransport({ url, from: 'shop@example.com', dkim: null });
  closing.push(() => other.close());
  assert.deepEqual(await other.send(message), {
    outcome: 'temporary',
    reason: 'tls',
    answer: null,
  });
});

for (const [what, error, reason] of [
  ['a certificate that is over', { code: 'ESOCKET', originalCode: 'CERT_HAS_EXPIRED' }, 'tls'],
  ['one of nobody', { code: 'ESOCKET', originalCode: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, 'tls'],
  ['one of another', { code: 'ESOCKET', originalCode: 'ERR_TLS_CERT_ALTNAME_INVALID' }, 'tls'],
  ['an alert', { code: 'ESOCKET', originalCode: 'EPROTO' }, 'tls'],
  ['STARTTLS that is refused', { code: 'ETLS', command: 'STARTTLS', responseCode: 500 }, 'tls'],
  ['a connection that broke', { code: 'ESOCKET', originalCode: 'ECONNRESET' }, 'connection'],
  ['a name that nobody knows', { code: 'EDNS', originalCode: 'ENOTFOUND' }, 'connection'],
] as const) {
  test(`${what} is told as ${reason}, and may be mended`, () => {
    const failure = classifyFailure(Object.assign(new Error(what), error));
    assert.deepEqual([failure.outcome, failure.reason], ['temporary', reason]);
  });
}

const unknown = (reason: string) => ({ outcome: 'unknown', reason, answer: null });

test('whether a message was taken is unknown when the relay had all of it and did not answer', async () => {
  const impatient = await setUp({ slowMs: 1_000 }, { limits: { answerMs: 150 } });
  assert.deepEqual(await impatient.transport.send(message), unknown('timeout'));
  const { relay, transport } = await setUp({ slowMs: 3_000 });
  const ending = new AbortController();
  const ended = transport.send(message, ending.signal);
  await eventually(() => relay.mails.length === 1);
  ending.abort();
  assert.deepEqual(await ended, unknown('deadline'));
  relay.script = { hangUp: true };
  assert.deepEqual(await transport.send(message), unknown('connection'));
  relay.script = { message: { code: 451, words: 'try again' } };
  const answered = await transport.send(message);
  assert.ok(answered.outcome === 'temporary' && answered.reason === 'smtp_451');
});

test('a relay may take its time with the answer, which the time before does not shorten', async () => {
  const limits = { handOverMs: 2_000, answerMs: 20_000 };
  const { transport } = await setUp({ slowMs: 2_500 }, { limits });
  assert.equal((await transport.send(message)).outcome, 'sent');
});

test('a relay that is slow before it has the message is given up, and it was not sent', async () => {
  const { relay, transport } = await setUp(
    { silentAfterSender: true },
    { limits: { handOverMs: 200 } },
  );
  const result = await transport.send(message);
  assert.deepEqual(result, { outcome: 'temporary', reason: 'timeout', answer: null });
  relay.script = {};
  const ended = await transport.send(message, AbortSignal.abort());
  assert.deepEqual(ended, { outcome: 'temporary', reason: 'deadline', answer: null });
  assert.equal(relay.mails.length, 0);
});

test('a password travels encrypted, except on this machine', () => {
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
    assert.deepEqual(readRelayUrl(url), expected, url);
  }
});
