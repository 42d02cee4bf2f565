import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { decodeSymbol, encodeSymbol, toCanonicalSymbols } from './crockford.ts';

test('all 32 values read back from their symbol, in either case', () => {
  for (let value = 0; value < 32; value += 1) {
    const symbol = encodeSymbol(value);
    assert.equal(decodeSymbol(symbol.charCodeAt(0)), value);
    assert.equal(decodeSymbol(symbol.toLowerCase().charCodeAt(0)), value);
  }
});

function read(text: string): number[] {
  return Array.from(text).map((symbol) => decodeSymbol(symbol.charCodeAt(0)));
}

test('I and L read as 1, O as 0, U and all else as nothing', () => {
  assert.deepEqual(read('IiLl'), [1, 1, 1, 1]);
  assert.deepEqual(read('Oo'), [0, 0]);
  assert.deepEqual(read('Uu-*~$=é\u{fffd}'), [-1, -1, -1, -1, -1, -1, -1, -1, -1]);
  assert.equal(decodeSymbol(Number.NaN), -1);
});

test('symbols that read the same have one spelling', () => {
  assert.equal(toCanonicalSymbols('oOiIlLaZ9'), '001111AZ9');
  assert.equal(toCanonicalSymbols('00111AZ9'), '00111AZ9');
});
