import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findStructureProblem } from './json-structure.ts';

const LIMITS = { depth: 3, parts: 5 };

function check(text: string): string | null {
  return findStructureProblem(Buffer.from(text), LIMITS);
}

test('accepts texts within the limits, whatever is in their strings', () => {
  for (const text of [
    '',
    '1',
    '[[[]]]',
    '{"a":{"b":[]}}',
    '[1,2,3,4,5]',
    '["[[[[","{{{{",",,,,,,"]',
    String.raw`["\"[[[[", "\\", "\\\"[[[["]`,
    '[[]] [[]]',
  ]) {
    assert.equal(check(text), null, text);
  }
});

test('rejects a text that is nested too deeply or has too many values', () => {
  for (const text of ['[[[[', '{"a":[{"b":[', String.raw`["\\",[[[`]) {
    assert.match(check(text) ?? '', /nested deeper than 3 levels/u, text);
  }
  for (const text of ['[0,0,0,0,0,0', '[[],[],[],', '{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}']) {
    assert.match(check(text) ?? '', /more than 5 values/u, text);
  }
});

test('reads texts that are not JSON to their end', () => {
  for (const text of ['"', '"\\', ']]]]', '"[[[[[[', '\u00FF']) assert.equal(check(text), null);
});
