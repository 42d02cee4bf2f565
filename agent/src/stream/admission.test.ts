import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  type AdmissionRules,
  decideAdmission,
  openAccessTokens,
  readOffer,
  type Credentials,
} from './admission.ts';
import { AddressReports, limitConnections, toClientKey } from './limits.ts';
import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';

const TOKEN = 'correct-horse-battery-staple';
const open: AdmissionRules = { needsCertificate: false, isToken: null, allowedOrigins: new Set() };
const tokens: AdmissionRules = {
  ...open,
  isToken: openAccessTokens(['another-token-of-us', TOKEN]),
};
const noCredentials: Credentials = {
  authorization: undefined,
  origin: undefined,
  host: 'db-1.example.com:4096',
  offer: [],
  certificateFault: 'No certificate.',
};

function decide(visitor: Partial<Credentials>, rules: AdmissionRules): string {
  const { refusal, subprotocol } = decideAdmission({ ...noCredentials, ...visitor }, rules);
  return refusal === null ? subprotocol : `${refusal.status} ${refusal.text}`;
}

test('admits everyone without certificates and tokens', () => {
  assert.equal(decide({}, open), 'latchkey.snapshot.v1');
});

test('requires a token as a header or a subprotocol', () => {
  const needed = '401 An access token is needed: send it as "Authorization: Bearer TOKEN".';
  assert.equal(decide({}, tokens), needed);
  assert.equal(decide({ authorization: `Basic ${TOKEN}` }, tokens), needed);
  assert.equal(
    decide({ authorization: `Bearer ${TOKEN}x` }, tokens),
    '401 The access token is not known.',
  );
  assert.equal(decide({ authorization: `bearer ${TOKEN}` }, tokens), 'latchkey.snapshot.v1');
  const offer = readOffer(`latchkey.vector.v1, latchkey.token.${TOKEN}`);
  assert.equal(decide({ offer }, tokens), 'latchkey.vector.v1');
  const alone = readOffer(`latchkey.token.${TOKEN}`);
  assert.match(decide({ offer: alone }, tokens), /^400 None of the subprotocols offered is known/u);
});

test('admits a valid certificate, or a token where there are tokens', () => {
  const certificates = { ...open, needsCertificate: true };
  assert.equal(decide({ certificateFault: null }, certificates), 'latchkey.snapshot.v1');
  assert.equal(decide({}, certificates), '403 No certificate.');
  assert.equal(decide({ authorization: `Bearer ${TOKEN}` }, certificates), '403 No certificate.');
  const both = { ...tokens, needsCertificate: true };
  assert.equal(decide({ certificateFault: null }, both), 'latchkey.snapshot.v1');
  assert.equal(decide({ authorization: `Bearer ${TOKEN}` }, both), 'latchkey.snapshot.v1');
  assert.equal(decide({}, both), '403 No certificate.');
});

test('admits pages of the same host, and of allowed origins', () => {
  const foreign =
    '403 Pages of this origin may not watch: allow it with latchkey-agent origins add.';
  const origin = 'https://console.example.com';
  assert.equal(decide({ origin: 'https://db-1.example.com:4096' }, open), 'latchkey.snapshot.v1');
  assert.equal(decide({ origin: 'http://db-1.example.com:4096' }, open), foreign);
  assert.equal(decide({ origin }, open), foreign);
  assert.equal(decide({ origin: 'null' }, open), foreign);
  assert.equal(
    decide({ origin, certificateFault: null }, { ...open, needsCertificate: true }),
    foreign,
  );
  assert.equal(
    decide({ origin }, { ...open, allowedOrigins: new Set([origin]) }),
    'latchkey.snapshot.v1',
  );
  assert.equal(
    decide({ origin }, { ...open, allowedOrigins: new Set(['*']) }),
    'latchkey.snapshot.v1',
  );
});

test('identifies a client by an IPv4 address or an IPv6 network', () => {
  for (const [address, visitor] of [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    [undefined, 'unknown'],
  ] as const) {
    assert.equal(toClientKey(address), visitor);
  }
});

test('limits the log lines of a flood from many addresses', () => {
  let nowMs = 0;
  const lines: string[] = [];
  const clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs };
  const reports = new AddressReports(clock, { warn: (message) => void lines.push(message) });
  const report = (address: string) => reports.report(address, 'stream.viewer_dropped', 'a reason');
  for (let at = 0; at < 10_000; at += 1) report(`192.0.2.${at}`);
  assert.equal(lines.length, 500);
  nowMs = 60_000;
  report('192.0.2.1');
  assert.equal(lines.length, 501);
});

/** Creates a fake connection from an address. */
function connectFrom(remoteAddress: string): Socket {
  return Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });
}

test('limits connections per client, and releases the slot of a closed one', () => {
  const refused: string[] = [];
  const limits = limitConnections(2, (address) => void refused.push(toClientKey(address)));
  const add = (address: string): Socket => {
    const socket = connectFrom(address);
    limits(socket);
    return socket;
  };
  const [first, second, third] = [add('2001:db8::1'), add('2001:db8::2'), add('2001:db8::3')];
  assert.deepEqual([first.destroyed, second.destroyed, third.destroyed], [false, false, true]);
  assert.deepEqual(refused, ['2001:db8:0:0::/64']);
  EventEmitter.prototype.emit.call(first, 'close');
  assert.equal(add('2001:db8::4').destroyed, false);
  assert.equal(add('2001:db8::5').destroyed, true);
  for (let time = 0; time < 5; time += 1) assert.equal(add('::ffff:127.0.0.1').destroyed, false);
});
