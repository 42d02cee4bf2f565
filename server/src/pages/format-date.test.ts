import assert from 'node:assert/strict';
import { test } from 'node:test';

import { formatDate, formatDateTime } from './format-date.ts';

test('writes days as people of the language do', () => {
  const [first, eleventh] = [new Date('2027-03-01T09:05:00Z'), new Date('2027-03-11T09:05:00Z')];
  assert.deepEqual(
    (['en', 'fr', 'de'] as const).map((language) => formatDate(language, first)),
    ['1 March 2027', '1er mars 2027', '1. März 2027'],
  );
  assert.equal(formatDate('fr', eleventh), '11 mars 2027');
  assert.equal(formatDateTime('fr', first), '1er mars 2027 à 09:05 UTC');
});
