import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import {
  hostOfMachine,
  isLoopbackAddress,
  isNamedAddress,
  isPrivateMachineAddress,
  parseMachineAddress,
  shortenMachineAddress,
} from './machine-address.ts';

test('parses host and port, and adds the default port', () => {
  const cases = [
    ['db-1.example.com', 'db-1.example.com:4096'],
    [' DB-1.Example.com:8443 ', 'db-1.example.com:8443'],
    ['db-1:443', 'db-1:443'],
    ['192.0.2.7', '192.0.2.7:4096'],
    ['[2001:DB8::7]:9000', '[2001:db8::7]:9000'],
    ['[::1]', '[::1]:4096'],
    ['bücher.example', 'xn--bcher-kva.example:4096'],
    ['DB-1.example.com/Latchkey', 'db-1.example.com:443/Latchkey'],
    ['db-1:8443/a/b-c/', 'db-1:8443/a/b-c'],
    ['[::1]/latchkey', '[::1]:443/latchkey'],
    ['db-1/', 'db-1:4096'],
  ];
  for (const [text = '', address] of cases) assert.equal(parseMachineAddress(text), address, text);
});

test('rejects everything that is more than a host, a port and a path', () => {
  const invalid = [
    '',
    'https://db-1',
    'db-1//path',
    'db-1/../path',
    'db-1/./path',
    'db-1/a/..',
    'db-1/pa%74h',
    'db-1/pa th',
    'db-1/path?query',
    'db-1\\path',
    'user@db-1',
    'user:secret@db-1',
    'db-1?query',
    'db-1#fragment',
    'db-1:0',
    'db-1:65536',
    'db-1:4096:1',
    'db-1:',
    'db 1',
    'db\n1',
    'db%2f1',
    'db-1;evil.example',
    '2001:db8::7',
    '[2001:db8::7',
    `${'a'.repeat(301)}.example.com`,
  ];
  for (const text of invalid) assert.equal(parseMachineAddress(text), null, text);
});

/** Texts of the characters that separate the parts of a URL. */
const addressLike = fc.string({ unit: fc.constantFrom(...Array.from('a1.-:[]@/\\%#?é')) });

test('a parsed address is a host of a URL, and parses to itself', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), addressLike), (text) => {
      const address = parseMachineAddress(text);
      if (address === null) return;
      assert.equal(parseMachineAddress(address), address);
      const { host, pathname, username } = new URL(`wss://${address}/`);
      const [authority = '', ...path] = address.split('/');
      const expected = [authority.replace(/:443$/u, ''), ['', ...path, ''].join('/'), ''];
      assert.deepEqual([host, pathname, username], expected);
    }),
  );
});

test('shortens an address, and parses that to the same', () => {
  for (const [address = '', short] of [
    ['db-1:4096', 'db-1'],
    ['db-1:443', 'db-1:443'],
    ['db-1:443/latchkey', 'db-1/latchkey'],
    ['db-1:4096/latchkey', 'db-1:4096/latchkey'],
  ]) {
    assert.equal(shortenMachineAddress(address), short);
    assert.equal(parseMachineAddress(shortenMachineAddress(address)), address);
    assert.equal(hostOfMachine(address), 'db-1');
  }
});

test('knows private addresses', () => {
  const own = ['10.0.0.1', '127.0.0.1', '172.31.0.9', '192.168.1.1', '100.64.0.1', '169.254.1.1'];
  const names = ['localhost', 'nas.local', '[::1]', '[fd00::1]', '[fe80::1]'];
  const others = ['172.32.0.1', '100.128.0.1', '11.0.0.1', '10.example.com', '[2001:db8::1]'];
  for (const host of [...own, ...names]) assert.ok(isPrivateMachineAddress(`${host}:4096`), host);
  assert.ok(isPrivateMachineAddress('10.0.0.1:443/latchkey'));
  for (const host of others) assert.ok(!isPrivateMachineAddress(`${host}:4096`), host);
});

test('knows this computer, and names', () => {
  for (const host of ['127.0.0.1', '127.9.9.9', 'localhost', 'a.localhost', '[::1]']) {
    assert.ok(isLoopbackAddress(`${host}:4096`), host);
  }
  for (const host of ['128.0.0.1', '127.example.com', 'localhost.example.com', '[::2]']) {
    assert.ok(!isLoopbackAddress(`${host}:4096`), host);
  }
  for (const host of ['nas', '10.example.com']) assert.ok(isNamedAddress(`${host}:443/a`), host);
  for (const host of ['192.0.2.7', '[2001:db8::1]'])
    assert.ok(!isNamedAddress(`${host}:4096`), host);
});
