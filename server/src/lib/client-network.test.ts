import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findClientAddress, networkOf, readForwardedAddress, siteOf } from './client-network.ts';

test('returns an IPv4 address, written in any form', () => {
  for (const address of ['203.0.113.7', '::ffff:203.0.113.7', '::FFFF:cb00:7107']) {
    assert.equal(networkOf(address), '203.0.113.7');
  }
});

test('returns the /64 of an IPv6 address', () => {
  for (const [address, network] of [
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:0DB8:0:0:ffff::', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
  ] as const) {
    assert.equal(networkOf(address), network);
    assert.equal(networkOf(network), network);
  }
});

test('returns the /48 of an IPv6 network, and an IPv4 address unchanged, as the site', () => {
  assert.equal(siteOf(networkOf('2001:db8:1:2::1')), '2001:db8:1');
  assert.equal(siteOf(networkOf('2001:db8:1:ffff::1')), '2001:db8:1');
  assert.notEqual(siteOf(networkOf('2001:db8:2:2::1')), '2001:db8:1');
  assert.equal(siteOf('203.0.113.7'), '203.0.113.7');
});

test('reads an address in all forms of proxies', () => {
  for (const [entry, address] of [
    ['192.0.2.60', '192.0.2.60'],
    ['192.0.2.60:4711', '192.0.2.60'],
    ['"192.0.2.60:4711"', '192.0.2.60'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['[fe80::1%eth0]:4711', 'fe80::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['for=192.0.2.60;proto=https;by=203.0.113.43', '192.0.2.60'],
    ['For="[2001:db8::1]:_port"', '2001:db8::1'],
  ] as const) {
    assert.equal(readForwardedAddress(entry), address, entry);
  }
});

test('returns null for text without an address', () => {
  for (const entry of [
    '',
    'unknown',
    '_hidden',
    'for=_secret',
    '192.0.2',
    '192.0.2.256',
    '192.0.2.60:',
    '192.0.2.60:123456',
    '0x7f.0.0.1',
    '2001:db8::1:zz',
    '[192.0.2.60]x',
    '[]:80',
    'example.com',
    '"'.repeat(16_000),
  ]) {
    assert.equal(readForwardedAddress(entry), null, entry.slice(0, 40));
  }
});

const isTrusted = (address: string) => address.startsWith('10.') || address === '127.0.0.1';

test('stops at the first hop that is not trusted, and before one that has no address', () => {
  for (const [socket, forwarded, client] of [
    ['127.0.0.1', '192.0.2.1, 192.0.2.2', '192.0.2.2'],
    ['127.0.0.1', '192.0.2.1, 10.0.0.2:80,10.0.0.1', '192.0.2.1'],
    ['127.0.0.1', '10.0.0.2,10.0.0.1', '10.0.0.2'],
    ['127.0.0.1', '192.0.2.1,, ,10.0.0.1', '192.0.2.1'],
    ['127.0.0.1', '192.0.2.1, junk, 10.0.0.1', '10.0.0.1'],
    ['127.0.0.1', 'junk', '127.0.0.1'],
    ['127.0.0.1', ',', '127.0.0.1'],
    ['192.0.2.9', '192.0.2.1', '192.0.2.9'],
  ] as const) {
    assert.equal(findClientAddress(socket, forwarded, isTrusted), client, forwarded);
  }
});
