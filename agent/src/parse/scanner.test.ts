import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Scanner } from './scanner.ts';

test('reads words and numbers of the current line only', () => {
  const scanner = new Scanner(Buffer.from('cpu  12 x 18446744073709551615\nnext\t7\n'));
  assert.equal(scanner.readWord(), 'cpu');
  assert.equal(scanner.readNumber(), 12);
  assert.equal(scanner.readNumber(), Number.NaN);
  scanner.skipWords(1);
  assert.equal(scanner.readNumber(), 18_446_744_073_709_552_000);
  assert.equal(scanner.readNumber(), Number.NaN);
  assert.equal(scanner.readWord(), '');
  scanner.skipLine();
  assert.equal(scanner.readWord(), 'next');
  assert.equal(scanner.readWord(), '7');
  scanner.skipLine();
  assert.equal(scanner.isAtEnd(), true);
  assert.equal(scanner.readWord(), '');
});

test('handles a table without a final line feed', () => {
  const scanner = new Scanner(Buffer.from('name 5'));
  scanner.skipWords(1);
  assert.equal(scanner.readNumber(), 5);
  scanner.skipLine();
  assert.equal(scanner.isAtEnd(), true);
});
