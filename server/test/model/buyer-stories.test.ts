import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import { buyerStories } from './buyer-stories.fixture.ts';
import { startModelService, tell } from './model-service.ts';
import type { Step } from './story-steps.ts';

const DEFAULT_STEP: Step = {
  kind: 'buy',
  days: 10,
  pick: 0,
  person: 0,
  giftTo: null,
  good: 'forever',
  seller: 'standard',
  quantity: 1,
  isTest: false,
  isLost: false,
  isNamedByKey: false,
};

/** In the order of the model's fields, by which licenses are sorted. */
const DEFAULT_LICENSE = {
  owner: 0,
  product: '',
  machines: 0,
  end: null,
  updates: null,
  isRefunded: false,
  isCanceled: false,
  isDisputed: false,
  isTest: false,
};

/** Orders of each story; each event arrives twice in some of them. */
const ORDERS = 3;

const service = await startModelService();

describe('in any order of events', () => {
  for (const { name, steps, licenses, attention = [], hasUpgrades = false } of buyerStories) {
    test(name, async () => {
      const expected = licenses.map((each) => ({ ...DEFAULT_LICENSE, ...each }));
      const all = steps.map((step) => ({ ...DEFAULT_STEP, ...step }));
      for (const seeds of fc.sample(fc.infiniteStream(fc.nat()), { seed: 1, numRuns: ORDERS })) {
        const { found, modeled } = await tell(service, { steps: all, hasUpgrades, seeds });
        assert.deepEqual(modeled, { licenses: sort(expected), attention });
        assert.deepEqual(found, modeled);
      }
    });
  }
});

function sort(licenses: readonly object[]): object[] {
  return licenses.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
