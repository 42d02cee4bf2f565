import assert from 'node:assert/strict';
import { test } from 'node:test';

import { credentialsOf } from '../../bench/lib/credentials.ts';
import { addressOfBuyer, addressOfReader } from '../load/actors/mails.ts';
import { KeyMails } from './key-mails.ts';
import { recordMail } from './record-mail.ts';
import { hashKey } from './uuids.ts';

const [{ licenseKey: key }, { licenseKey: other }] = [credentialsOf(1), credentialsOf(2)];

/** A message with a key in its two parts, once broken over two lines. */
const writeMail = (licenseKey: string): string =>
  [
    'Content-Type: multipart/alternative; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    `Your key: ${licenseKey}`,
    '--b',
    'Content-Type: text/html',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    `<b>${licenseKey.slice(0, 9)}=`,
    `${licenseKey.slice(9)}</b>`,
    '--b--',
  ].join('\r\n');

test('records the key of an e-mail to a buyer, and when one is sent again or differs', () => {
  const ledger = { keyMails: new KeyMails(2), outreachMails: new Uint8Array(2) };
  const address = addressOfBuyer(1);
  recordMail(ledger, { address, raw: writeMail(key), acceptedAt: 5 });
  const { keyMails } = ledger;
  assert.deepEqual([keyMails.keyOf(0), keyMails.keyOf(1)], [null, hashKey(key)]);
  assert.deepEqual(keyMails.repeatedFrom, []);
  recordMail(ledger, { address, raw: writeMail(key), acceptedAt: 7 });
  assert.deepEqual([keyMails.repeatedFrom, keyMails.different], [[5], 0]);
  recordMail(ledger, { address, raw: writeMail(other), acceptedAt: 9 });
  assert.deepEqual([keyMails.repeatedFrom, keyMails.different], [[5, 7], 1]);
  assert.deepEqual([...keyMails.counts], [0, 3]);
});

test('counts a message to a recipient of outreach, and ignores other addresses', () => {
  const ledger = { keyMails: new KeyMails(2), outreachMails: new Uint8Array(2) };
  for (const address of [addressOfReader(0), 'x@example.com'])
    recordMail(ledger, { address, raw: '', acceptedAt: 1 });
  assert.deepEqual([...ledger.outreachMails], [1, 0]);
  assert.deepEqual([...ledger.keyMails.counts], [0, 0]);
});
