import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findRisingRefusals } from './rising-refusals.ts';

const TODAY = '2027-03-08';
const usual = (licenses: number) =>
  Array.from({ length: 7 }, (_, index) => ({ day: `2027-03-0${index + 1}`, licenses }));

test('reports twice as many refused licenses as in the week before', () => {
  const today = { day: TODAY, licenses: 20 };
  assert.deepEqual(findRisingRefusals([...usual(10), today], TODAY), { licenses: 20, usual: 10 });
  assert.equal(findRisingRefusals([...usual(11), today], TODAY), null);
});

test('does not report few refusals, or none', () => {
  assert.equal(findRisingRefusals([{ day: TODAY, licenses: 9 }], TODAY), null);
  assert.deepEqual(findRisingRefusals([{ day: TODAY, licenses: 10 }], TODAY), {
    licenses: 10,
    usual: 0,
  });
  assert.equal(findRisingRefusals(usual(100), TODAY), null);
});
