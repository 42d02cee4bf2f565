import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';

import { showDifference } from './show-difference.ts';

test('a difference is shown with the lines around it', () => {
  assert.deepEqual(showDifference('a\nb\nc\nd\n', 'a\nb\nc\nnew\nd\n'), [
    '  b',
    '  c',
    '+ new',
    '  d',
    '  ',
  ]);
  assert.deepEqual(showDifference('old\n', 'new\n'), ['- old', '+ new', '  ']);
  assert.deepEqual(
    showDifference('x\nx\n', 'x\nx\nx\n').filter((line) => line.startsWith('+')),
    ['+ x'],
  );
});

test('equal texts have no difference', () => {
  assert.deepEqual(
    showDifference('a\nb\n', 'a\nb\n').filter((line) => !line.startsWith(' ')),
    [],
  );
});

test('lines that stay between those that differ are not shown as changed, and are left out where they are many', () => {
  const stays = ['b', 'c', 'd', 'e', 'f', 'g'];
  const [before, after] = [
    ['name old', ...stays, 'name old', '}'],
    ['name new', ...stays, 'name new', 'more', '}'],
  ].map((lines) => lines.join('\n'));
  assert.deepEqual(showDifference(before ?? '', after ?? ''), [
    '- name old',
    '+ name new',
    '  b',
    '  c',
    '  …',
    '  f',
    '  g',
    '- name old',
    '+ name new',
    '+ more',
    '  }',
  ]);
});

test('a line that moves goes at one place and comes at another', () => {
  assert.deepEqual(showDifference('a {\nline\n}\nb {\n}', 'a {\n}\nb {\nline\n}'), [
    '  a {',
    '- line',
    '  }',
    '  b {',
    '+ line',
    '  }',
  ]);
});

test('what differs can be told from it, whatever the texts', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', '}'), { maxLength: 12 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = showDifference(before.join('\n'), after.join('\n'));
      const take = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
      const isInOrder = (wanted: readonly string[], signs: string) => {
        let at = 0;
        const kept = lines.filter((line) => signs.includes(line.charAt(0)) && line !== '  …');
        for (const line of kept) {
          while (at < wanted.length && wanted[at] !== line.slice(2)) at += 1;
          if (at === wanted.length) return false;
          at += 1;
        }
        return true;
      };
      assert.equal(take('+') - take('-'), Math.max(1, after.length) - Math.max(1, before.length));
      assert.ok(isInOrder(before.length === 0 ? [''] : before, ' -'), lines.join('|'));
      assert.ok(isInOrder(after.length === 0 ? [''] : after, ' +'), lines.join('|'));
    }),
  );
});
