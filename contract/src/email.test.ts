import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEmail } from './email.ts';

const valid: readonly (readonly [string, string])[] = [
  ['ada@example.com', 'ada@example.com'],
  ['  Ada.Lovelace@EXAMPLE.Com\n', 'Ada.Lovelace@example.com'],
  ["o'hara+news@mail.example.co.uk", "o'hara+news@mail.example.co.uk"],
  ['a@b.example', 'a@b.example'],
  ['ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
  ['ada@bücher.example', 'ada@bücher.example'],
  ['a@example.0xyz', 'a@example.0xyz'],
  ['jürgen@example.com', 'jürgen@example.com'],
  // Normalized: both encodings of the same name are one address.
  ['ju\u0308rgen@example.com', 'jürgen@example.com'],
  [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
];

for (const [text, address] of valid) {
  test(`parses ${JSON.stringify(text)} as ${address}`, () => {
    assert.deepEqual(parseEmail(text), { email: address });
  });
}

const invalid = [
  '',
  'nope',
  '@b.example',
  'a@',
  'a b@example.com',
  'a@example..com',
  'a@example.com.',
  'a@.example.com',
  'a@-example.com',
  'a@-bücher.example',
  'a@bücher-.example',
  'a@ab--cd.example',
  'a@bü--cher.example',
  'a@ex_ample.com',
  'a@example',
  'a@localhost',
  'a@host.local',
  'a@1.2.3.4',
  'a@1.2.0x7f',
  'a@example.0xbad',
  'a@example.0x',
  'a@example.a1',
  'a@[127.0.0.1]',
  'a@exa%6Dple.com',
  'a@example.com/x',
  'a@ex ample.com',
  '.a@example.com',
  'a.@example.com',
  'a..b@example.com',
  'a@b@example.com',
  '"a b"@example.com',
  'Ada <ada@example.com>',
  'a\u0000@example.com',
  'a\ud800@example.com',
  'a\u200b@example.com',
  'a@example\u0000.com',
  'a@bü\ud800cher.example',
  `${'a'.repeat(65)}@example.com`,
  `a@${'b'.repeat(64)}.com`,
  `a@${'b.'.repeat(127)}com`,
  `${'a'.repeat(5_000)}@example.com`,
];

for (const text of invalid) {
  test(`rejects ${JSON.stringify(text).slice(0, 60)}`, () => {
    const result = parseEmail(text);
    assert.ok('fault' in result, JSON.stringify(result));
    assert.match(result.fault, /^[A-Z].*\.$/);
  });
}
