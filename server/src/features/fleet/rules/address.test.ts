import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { parseAddress, toHost } from './address.ts';

describe('an address', () => {
  test('is normalised: equal addresses are equal texts', () => {
    const cases = [
      ['web-1.example.com', 'web-1.example.com'],
      [' WEB-1.Example.com:4096 ', 'web-1.example.com'],
      ['web-1.example.com:04100', 'web-1.example.com:4100'],
      ['web-1.example.com:443', 'web-1.example.com:443'],
      ['nas', 'nas'],
      ['DB-1.example.com/latchkey/', 'db-1.example.com/latchkey'],
      ['db-1.example.com:443/Latchkey/a', 'db-1.example.com/Latchkey/a'],
      ['db-1.example.com:4096/latchkey', 'db-1.example.com:4096/latchkey'],
      ['nas:4096/', 'nas'],
      ['localhost:80', 'localhost:80'],
      ['10.0.0.7', '10.0.0.7'],
      ['10.0.0.7:65535', '10.0.0.7:65535'],
      ['bücher.example', 'xn--bcher-kva.example'],
      [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
    ] as const;
    assert.deepEqual(
      cases.map(([text]) => parseAddress(text)),
      cases.map(([, address]) => ({ address })),
    );
  });

  test('has no scheme, query, fragment, user or password', () => {
    for (const text of [
      'https://web-1.example.com',
      'wss://web-1.example.com:4096/',
      'web-1.example.com?a',
      'web-1.example.com#a',
      'user:secret@web-1.example.com',
      'web-1.example.com\\@other.example.com',
    ]) {
      const problem = 'Enter only host, port and path, without a scheme, a query or a password';
      assert.deepEqual(parseAddress(text), { problem }, text);
    }
  });

  test('is no IPv6 address', () => {
    for (const text of ['[::1]', '[2001:db8::1]:4096', '2001:db8::1', '::1']) {
      assert.match(JSON.stringify(parseAddress(text)), /IPv6/, text);
    }
  });

  test('has a host of letters, digits, dots and hyphens', () => {
    for (const text of [
      '',
      ' ',
      ':4096',
      'web 1',
      'web/a b',
      'web//a',
      'web/../a',
      'web/.',
      'web/%2e',
      'web/a;b',
      'web/"',
      '/latchkey',
      'web\t1',
      'web_1.example.com',
      '-web.example.com',
      'web-.example.com',
      'web..example.com',
      'web.example.com.',
      '*.example.com',
      '*',
      "'self'",
      'a;b',
      'a,b',
      'a"b',
      'a<b',
      '%77eb.example.com',
      '010.0.0.1',
      '0x0a000001',
      '10.1',
      '10.0.0.256',
      `${'a'.repeat(64)}.example`,
      `${'abcdefgh.'.repeat(30)}example`,
    ]) {
      assert.deepEqual(
        parseAddress(text),
        { problem: 'Enter a host name or an IPv4 address' },
        text,
      );
    }
  });

  test('has a port from 1 to 65535', () => {
    for (const text of ['web:0', 'web:65536', 'web:99999']) {
      assert.deepEqual(parseAddress(text), { problem: 'Enter a port from 1 to 65535' }, text);
    }
    for (const text of ['web:', 'web:4o96', 'web:-1', 'web:100000', 'web: 4096']) {
      assert.ok('problem' in parseAddress(text), text);
    }
  });
});

test('names host and port of every address', () => {
  const addresses = ['nas', 'nas:443', 'nas/latchkey', 'nas:4100/latchkey'];
  assert.deepEqual(addresses.map(toHost), ['nas:4096', 'nas:443', 'nas:443', 'nas:4100']);
});
