import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { locateJsonFault } from './json-fault.ts';

const faults: readonly (readonly [string, number, string])[] = [
  ['hello', 0, 'Expecting value'],
  ["{'a': 1}", 1, 'Expecting property name enclosed in double quotes'],
  ['{"a": "bc', 6, 'Unterminated string starting at'],
  ['{"a": 1,}', 8, 'Expecting property name enclosed in double quotes'],
  ['[1,]', 3, 'Expecting value'],
  ['[1 2]', 3, "Expecting ',' delimiter"],
  ['{"a" 1}', 5, "Expecting ':' delimiter"],
  ['{"a":1} x', 8, 'Extra data'],
  ['[]]', 2, 'Extra data'],
  ['{"a":"\u0001"}', 6, 'Invalid control character at'],
  [String.raw`{"a":"\x"}`, 6, String.raw`Invalid \escape`],
  [String.raw`{"a":"\u12"}`, 7, String.raw`Invalid \uXXXX escape`],
  ['{"a":"b\\', 5, 'Unterminated string starting at'],
  ['{"é😀" 1}', 6, "Expecting ':' delimiter"],
  ['{"a":01}', 6, "Expecting ',' delimiter"],
  [' [1,[]  ', 8, "Expecting ',' delimiter"],
  ['  ', 2, 'Expecting value'],
  ['NaN', 0, 'Expecting value'],
];

for (const [text, offset, reason] of faults) {
  test(`${JSON.stringify(text)} goes wrong at ${offset}: ${reason}`, () => {
    assert.deepEqual(locateJsonFault(text), { offset, reason });
  });
}

test('a text that was cut goes wrong where what is missing should be, never before', () => {
  const cut = fc
    .tuple(fc.json(), fc.nat())
    .map(([json, at]) => ({ json, at: at % (json.length + 1) }));
  fc.assert(
    fc.property(cut, ({ json, at }) => {
      const text = json.slice(0, at);
      if (isJson(text)) return;
      const { offset } = locateJsonFault(text);
      assert.ok(offset >= 0 && offset <= text.length);
      // Everything before the fault is the beginning of some JSON: the uncut text proves it.
      assert.ok(json.startsWith(text.slice(0, offset)));
    }),
  );
});

test('a fault is found wherever a character is put out of place', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), (json, at) => {
      const place = at % (json.length + 1);
      const text = `${json.slice(0, place)}\u0002${json.slice(place)}`;
      assert.equal(isJson(text), false);
      assert.ok(locateJsonFault(text).offset <= place);
    }),
  );
});

test('a hostile depth costs neither the stack nor much time', () => {
  const depth = 1_000_000;
  assert.deepEqual(locateJsonFault('['.repeat(depth)), {
    offset: depth,
    reason: 'Expecting value',
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
