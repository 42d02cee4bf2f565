import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, test } from 'node:test';

import { parseEmail } from '@latchkey/contract';
import * as fc from 'fast-check';

import { createVault } from '#server/lib/vault.ts';
import { createSmtpTransport } from '#server/mail/smtp-transport.ts';

import { readHeader, startMailRelay } from '../../../test/mail-relay.ts';
import {
  createUnsubscribeHeaders,
  createUnsubscribeToken,
  openUnsubscribeToken,
} from './unsubscribe.ts';

const vault = createVault('a master secret for these tests alone');
const config = { http: { publicUrl: 'https://license.example.com' } };

const relay = await startMailRelay();
const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const transport = createSmtpTransport({
  url: relay.url,
  from: 'News <news@example.com>',
  dkim: { domain: 'example.com', selector: 'mail', privateKey },
});
after(async () => {
  transport.close();
  await relay.close();
});

const long = `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.example`;

for (const address of ['ada@example.com', long]) {
  test(`signs the whole unsubscribe link for an address of ${address.length} characters`, async () => {
    const sent = await transport.send({
      to: { address, name: null },
      subject: 'News',
      text: 'News',
      html: '<p>News</p>',
      messageToken: `news-${address.length}`,
      headers: createUnsubscribeHeaders({ vault, config }, address),
    });
    assert.equal(sent.outcome, 'sent');
    const mail = relay.mails.at(-1);
    assert.ok(mail !== undefined);
    const link = readHeader(mail, 'List-Unsubscribe') ?? '';
    const token = /^<https:\/\/license\.example\.com\/u\/(?<token>[\w-]+)>$/u.exec(link)?.groups;
    assert.equal(openUnsubscribeToken(vault, token?.['token'] ?? ''), address);
    assert.equal(readHeader(mail, 'List-Unsubscribe-Post'), 'List-Unsubscribe=One-Click');
    const signed = /\bh=(?<fields>[^;]+);/u.exec(readHeader(mail, 'DKIM-Signature') ?? '');
    const fields =
      signed?.groups?.['fields']?.replaceAll(/\s/gu, '').toLowerCase().split(':') ?? [];
    assert.deepEqual(
      ['from', 'to', 'subject', 'list-unsubscribe', 'list-unsubscribe-post'].filter(
        (field) => !fields.includes(field),
      ),
      [],
    );
    const [head = ''] = mail.raw.split('\r\n\r\n', 1);
    assert.ok(head.split('\r\n').every((line) => line.length <= 998));
  });
}

const localPart = fc
  .array(fc.stringMatching(/^[A-Za-z0-9àéüñÀÉÜÑжЖ_+-]{1,8}$/u), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join('.'));
const domain = fc
  .array(fc.stringMatching(/^[a-zA-Z0-9äöüÄÖÜ]{1,10}$/u), { minLength: 1, maxLength: 3 })
  .map((labels) => [...labels, 'example'].join('.'));
const address = fc
  .tuple(localPart, domain)
  .map(([local, host]) => `${local}@${host}`)
  .filter((email) => 'email' in parseEmail(email));

test('a token is safe in a path and opens to its address', () => {
  fc.assert(
    fc.property(address, (email) => {
      const token = createUnsubscribeToken(vault, email);
      assert.match(token, /^[\w-]+$/u);
      assert.equal(openUnsubscribeToken(vault, token), parsed(email));
    }),
  );
});

function parsed(email: string): string {
  const result = parseEmail(email);
  if ('fault' in result) throw new Error(result.fault);
  return result.email;
}

const longest = `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(59)}.example`;

test('creates a token for the longest address', () => {
  assert.equal(longest.length, 254);
  const token = createUnsubscribeToken(vault, longest);
  assert.equal(openUnsubscribeToken(vault, token), longest);
});

test('rejects a modified token, one with another label and one of another service', () => {
  const token = createUnsubscribeToken(vault, 'ada@example.com');
  const other = createVault('the master secret of another service');
  const invalid = [
    '',
    'x',
    '%2e',
    `${token}=`,
    token.slice(0, -2),
    `${token.slice(0, 20)}${token[20] === 'A' ? 'B' : 'A'}${token.slice(21)}`,
    'A'.repeat(100_000),
    vault.seal('ada@example.com', 'license:1').toString('base64url'),
    vault.seal('not an address', 'unsubscribe').toString('base64url'),
    createUnsubscribeToken(other, 'ada@example.com'),
  ];
  assert.deepEqual(
    invalid.map((text) => openUnsubscribeToken(vault, text)),
    invalid.map(() => null),
  );
});

test('the header fields offer one-click unsubscription', () => {
  const withPath = { http: { publicUrl: 'https://license.example.com/latchkey' } };
  const fields = createUnsubscribeHeaders({ vault, config: withPath }, 'ada@example.com');
  const url = /^<https:\/\/license\.example\.com\/latchkey\/u\/(?<token>[\w-]+)>$/u.exec(
    fields['List-Unsubscribe'],
  );
  assert.equal(openUnsubscribeToken(vault, url?.groups?.['token'] ?? ''), 'ada@example.com');
  assert.equal(fields['List-Unsubscribe-Post'], 'List-Unsubscribe=One-Click');
});
