import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, test } from 'node:test';

import { createVault } from '#server/lib/vault.ts';
import { createSmtpTransport } from '#server/mail/smtp-transport.ts';

import { readHeader, startMailRelay } from '../../../test/mail-relay.ts';
import { makeUnsubscribeHeaders, readUnsubscribeToken } from './unsubscribe.ts';

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
  test(`a mail to an address of ${address.length} characters carries a link that is whole, and signed`, async () => {
    const sent = await transport.send({
      to: { address, name: null },
      subject: 'News',
      text: 'News',
      html: '<p>News</p>',
      messageToken: `news-${address.length}`,
      headers: makeUnsubscribeHeaders({ vault, config }, address),
    });
    assert.equal(sent.outcome, 'sent');
    const mail = relay.mails.at(-1);
    assert.ok(mail !== undefined);
    const link = readHeader(mail, 'List-Unsubscribe') ?? '';
    const token = /^<https:\/\/license\.example\.com\/u\/(?<token>[\w-]+)>$/u.exec(link)?.groups;
    assert.equal(readUnsubscribeToken(vault, token?.['token'] ?? ''), address);
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
