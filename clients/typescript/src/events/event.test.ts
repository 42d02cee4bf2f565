import assert from 'node:assert/strict';
import { test } from 'node:test';

import { cleanName, cleanProps, parseEvent } from './event.ts';

test('cuts names, and replaces what is not printable', () => {
  assert.equal(cleanName(' app_started '), 'app_started');
  assert.equal(cleanName('a\nb\u0000c'), 'a b c');
  assert.equal(cleanName('x'.repeat(200))?.length, 120);
  for (const name of ['', '  ', '\n']) assert.equal(cleanName(name), null);
});

test('makes texts of props, which the service accepts', () => {
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`k${index}`, index]));
  assert.equal(Object.keys(cleanProps(many)).length, 32);
  assert.deepEqual(cleanProps({ ['x'.repeat(65)]: 1, ok: true }), { ok: 'true' });
  const { text, half, zero } = cleanProps({
    text: 'x'.repeat(2_000),
    half: 'a\uD83D',
    zero: 'a\0',
  });
  assert.deepEqual([text?.length, half, zero], [1_024, 'a\uFFFD', 'a\uFFFD']);
});

test('reads no line that was cut, or of another shape', () => {
  const event = {
    id: 'i',
    name: 'n',
    at: '2027-01-15T08:00:00.000Z',
    props: { a: 'b' },
    session: 's',
    app: '1',
  };
  const line = JSON.stringify(event);
  assert.deepEqual(parseEvent(line), event);
  const others = [
    line.slice(0, -1),
    '',
    '[]',
    '{}',
    line.replace('2027', 'x'),
    line.replace('"n"', '1'),
  ];
  for (const text of others) assert.equal(parseEvent(text), null, text);
});
