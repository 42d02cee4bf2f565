import assert from 'node:assert/strict';
import { test } from 'node:test';

import { drawBar, drawChart } from './charts.ts';
import { sanitize, cutText, fitText, widthOf } from './text.ts';

test('replaces control characters', () => {
  assert.equal(sanitize('\u001b]0;x\u0007\u009b2J\u202e\u2028\n\u200d'), '·]0;x··2J····');
  assert.equal(sanitize('naïve 漢字 ½'), 'naïve 漢字 ½');
  assert.equal(sanitize(`e${'\u0301'.repeat(1000)}`), 'e\u0301\u0301');
  assert.equal(sanitize('x'.repeat(10_000)).length, 4096);
});

test('computes the width of texts in a terminal', () => {
  assert.deepEqual(['abc', '漢字', 'e\u0301', '█▁°…'].map(widthOf), [3, 4, 1, 4]);
  assert.deepEqual(
    [cutText('abcdef', 4), cutText('漢字漢', 4), cutText('abc', 0)],
    ['abc…', '漢…', ''],
  );
  assert.deepEqual([fitText('漢字', 6, 'right'), fitText('abc', 5)], ['  漢字', 'abc  ']);
});

function draw(ratio?: number): string {
  return drawBar(ratio, 4)
    .map(({ text }) => text)
    .join('');
}

test('fills bars to an eighth of a column', () => {
  assert.deepEqual(
    [draw(0), draw(0.3), draw(0.5), draw(1), draw(7), draw(-1), draw()],
    ['····', '█▎··', '██··', '████', '████', '····', '····'],
  );
});

test('draws the newest values, and gaps for unknown ones', () => {
  const options = { width: 6, height: 2, highest: 1, style: 'green' } as const;
  const lines = drawChart([0.9, undefined, 0, 0.25, 0.5, 0.75, 1], options);
  assert.deepEqual(
    lines.map((line) => line.map(({ text }) => text).join('')),
    ['    ▄█', ' ▁▄███'],
  );
});
