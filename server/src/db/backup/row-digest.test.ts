import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { RowDigest } from './row-digest.ts';

function digestOf(...blocks: readonly string[]): string {
  const digest = new RowDigest();
  for (const block of blocks) digest.add(Buffer.from(block));
  return digest.digest();
}

test('is the same for the same rows in any order and in any blocks', () => {
  const rows = fc.array(fc.constantFrom('1\ta', '2\tb', '3\t\\N', ''), { maxLength: 8 });
  fc.assert(
    fc.property(rows, fc.nat(8), (lines, at) => {
      const rotated = [...lines.slice(at), ...lines.slice(0, at)].map((line) => `${line}\n`);
      const whole = lines.map((line) => `${line}\n`).join('');
      assert.equal(digestOf(...rotated), digestOf(whole));
    }),
  );
});

test('differs for a row that is missing, doubled, changed or split', () => {
  const expected = digestOf('1\ta\n2\tb\n');
  const others = ['1\ta\n', '1\ta\n2\tb\n2\tb\n', '1\ta\n2\tc\n', '1\ta\n2\t\nb\n', '2\ta\n1\tb\n'];
  for (const other of others) assert.notEqual(digestOf(other), expected, other);
});
