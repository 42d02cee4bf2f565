import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Scanner } from './scanner.ts';

test('words and numbers are read line by line, and never from the next line', () => {
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
  assert.equal(scanner.readLine(), '7');
  assert.equal(scanner.isAtEnd(), true);
  assert.equal(scanner.readLine(), '');
});

test('a table that is cut off ends like any other', () => {
  const scanner = new Scanner(Buffer.from('name 5'));
  scanner.skipWords(1);
  assert.equal(scanner.readNumber(), 5);
  scanner.skipLine();
  assert.equal(scanner.isAtEnd(), true);
});
