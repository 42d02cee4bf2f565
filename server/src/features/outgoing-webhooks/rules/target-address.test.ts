import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { createTargetCheck } from './target-address.ts';

const isPublic = createTargetCheck([]);

const SPECIAL = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.9.9.9',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
];

const EMBEDDING: Readonly<Record<string, (address: string) => string>> = {
  'IPv4-mapped': (address) => `::ffff:${address}`,
  'IPv4-compatible': (address) => `::${address}`,
  'IPv4-translated': (address) => `::ffff:0:${address}`,
  NAT64: (address) => `64:ff9b::${address}`,
  'local NAT64': (address) => `64:ff9b:1::${address}`,
  '6to4': (address) =>
    new URL(`http://[::${address}]`).hostname.replace(/^\[::/u, '2002:').replace(']', '::1'),
};

test('refuses special IPv4 addresses, also within IPv6 addresses', () => {
  for (const address of SPECIAL) {
    assert.equal(isPublic(address), false, address);
    for (const [form, embed] of Object.entries(EMBEDDING)) {
      assert.equal(isPublic(embed(address)), false, `${form} ${address}`);
    }
  }
});

test('refuses special IPv6 addresses', () => {
  const addresses = [
    '::',
    '::1',
    '100::1',
    '2001::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
    '2001:db8::1',
    '3fff::1',
    '5f00::1',
    'fc00::1',
    'fd12::1',
    'fe80::1',
    'febf::1',
    'fec0::1',
    'ff02::1',
    'ff0e::1',
    '4000::1',
    '1000::1',
  ];
  for (const address of addresses) assert.equal(isPublic(address), false, address);
});

test('accepts public addresses, and IPv6 addresses that contain one', () => {
  const addresses = [
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '::ffff:1.1.1.1',
    '64:ff9b::101:101',
    '2001:200::1',
    '2003::1',
    '2a00:1450::1',
    '3ffe::1',
  ];
  for (const address of addresses) assert.equal(isPublic(address), true, address);
});

test('allows exactly the named networks', () => {
  const isAccepted = createTargetCheck(['10.20.0.0/16', '192.168.1.7', 'fd00:1::/32']);
  const accepted = ['10.20.0.1', '::ffff:10.20.0.1', '192.168.1.7', 'fd00:1::5', '1.1.1.1'];
  const refused = ['10.21.0.1', '192.168.1.8', 'fd00:2::5', '127.0.0.1', '64:ff9b::10.20.0.1'];
  for (const address of accepted) assert.equal(isAccepted(address), true, address);
  for (const address of refused) assert.equal(isAccepted(address), false, address);
});

test('refuses a special address in any spelling that a URL accepts', () => {
  const spellings: readonly ((octets: readonly number[]) => string)[] = [
    (octets) => octets.join('.'),
    (octets) => octets.map((octet) => `0x${octet.toString(16)}`).join('.'),
    (octets) => octets.map((octet) => `0${octet.toString(8)}`).join('.'),
    (octets) => String(octets.reduce((sum, octet) => sum * 256 + octet, 0)),
    (octets) => `${octets.join('.')}.`,
    (octets) => octets.join('。'),
    (octets) => `[::ffff:${octets.join('.')}]`,
    (octets) => `[0:0:0:0:0:FFFF:${octets.join('.')}]`,
  ];
  const special = fc.constantFrom(...SPECIAL).map((address) => address.split('.').map(Number));
  fc.assert(
    fc.property(special, fc.constantFrom(...spellings), (octets, spell) => {
      const { hostname } = new URL(`http://${spell(octets)}/`);
      assert.equal(isPublic(hostname.replaceAll(/[[\]]/gu, '')), false, hostname);
    }),
  );
});
