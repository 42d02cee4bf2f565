import assert from 'node:assert/strict';
import { test } from 'node:test';

import { decodeQR } from 'qr/decode.js';

import { qrCode } from './qr-code.ts';

const PIXELS = 4;

/** Draws the paths of the code as a camera would see it. */
function draw(source: string) {
  const size = Number(/viewBox="0 0 (?<size>\d+)/u.exec(source)?.groups?.['size']);
  const width = size * PIXELS;
  const data = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [, x = '', y = '', run = ''] of source.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/gu)) {
    for (let row = Number(y) * PIXELS; row < (Number(y) + 1) * PIXELS; row += 1) {
      const start = (row * width + Number(x) * PIXELS) * 4;
      for (let at = start; at < start + Number(run) * PIXELS * 4; at += 4) {
        data.fill(0, at, at + 3);
      }
    }
  }
  return { width, height: width, data };
}

test('a camera reads the text of the code', () => {
  const text = `eyJhbGciOiJFZERTQSJ9.${'eyJqdGkiOiJ4In0'.repeat(40)}.AbC-_9`;
  const code = qrCode(text, 'The "answer"');
  assert.ok(code !== null);
  assert.match(code.source, /role="img" aria-label="The &quot;answer&quot;"/u);
  assert.equal(decodeQR(draw(code.source)), text);
});

test('a text that is too long has no code', () => {
  assert.equal(qrCode('x'.repeat(1_501), 'answer'), null);
});
