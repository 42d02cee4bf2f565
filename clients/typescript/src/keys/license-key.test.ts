import assert from 'node:assert/strict';
import { test } from 'node:test';

import { KEY } from '../../test/open-client.ts';
import { lastGroup, readKey } from './license-key.ts';

test('reads every spelling of a key', () => {
  const compact = KEY.replaceAll('-', '');
  const spellings = [
    KEY,
    ` ${KEY.toLowerCase()}\r\n`,
    KEY.replaceAll('-', ' – '),
    compact,
    KEY.replaceAll('-', '\u2011'),
    KEY.replaceAll('1', 'l'),
    KEY.replace('X4T1C', 'x4tIc'),
  ];
  for (const text of spellings) assert.deepEqual(readKey(text), { key: KEY, verdict: 'ok' }, text);
});

test('keeps another prefix, and reads a key without one', () => {
  const symbols = KEY.slice(3);
  assert.equal(readKey(`oil-${symbols}`).key, `OIL-${symbols}`);
  assert.deepEqual(readKey(symbols), { key: symbols, verdict: 'ok' });
});

test('detects wrong and swapped symbols', () => {
  for (const text of [KEY.replace('7Q', 'Q7'), KEY.replace('5', '6'), KEY.replace(/4$/, '5')]) {
    assert.equal(readKey(text).verdict, 'mistyped', text);
  }
});

test('leaves keys that were issued elsewhere as they are', () => {
  const keys = [
    '550e8400-e29b-41d4-a716-446655440000',
    '85DB562A-C11D4B06-A2335A6B-8C079166',
    'AAAAA-BBBBB-CCCCC-DDDDD-EEEEE',
    KEY.replace('5', '6').replaceAll('-', ''),
    KEY.replace(/.$/, '\u212A'),
    'abc-Def-123',
    '',
  ];
  for (const key of keys) assert.deepEqual(readKey(` ${key} `), { key, verdict: 'foreign' }, key);
});

test('shows only the last group', () => {
  assert.equal(lastGroup(KEY), '…5WV94');
});
