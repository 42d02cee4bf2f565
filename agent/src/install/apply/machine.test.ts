import assert from 'node:assert/strict';
import { test } from 'node:test';

import { lastLines } from './machine.ts';

test('removes control characters from the output of a program', () => {
  const result = { code: 1, fault: null, isMissing: false, stdout: '' };
  const stderr = `${'early\n'.repeat(20)}Detail: "\u001B]0;x\u0007\u009B2J"\r\n\n`;
  assert.deepEqual(lastLines({ ...result, stderr }).slice(-2), ['early', 'Detail: " ]0;x  2J"']);
  assert.equal(lastLines({ ...result, stderr }).length, 8);
});
