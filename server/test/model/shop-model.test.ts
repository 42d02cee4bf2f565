import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { GOOD_NAMES, SELLERS } from './goods.ts';
import { startModelService, tell } from './model-service.ts';
import type { Step } from './story-steps.ts';

/** `SHOP_RUNS` sets another number of stories, `SHOP_SEED` the same ones again. */
const RUNS = Number(process.env['SHOP_RUNS'] ?? 30);
const SEED = process.env['SHOP_SEED'] ?? '';

const KINDS: readonly Step['kind'][] = [
  'buy',
  'buy',
  'buy',
  'renewLicense',
  'renewLicense',
  'renewSubscription',
  'changeQuantity',
  'cancel',
  'refund',
  'refundPart',
  'dispute',
  'win',
  'editCatalog',
  'addKeys',
];

const anyStep: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...KINDS),
  days: fc.integer({ min: 1, max: 200 }),
  pick: fc.nat(20),
  person: fc.constantFrom(0, 0, 0, 1, 1, 3),
  giftTo: fc.constantFrom(null, null, null, 2, 1),
  good: fc.constantFrom(...GOOD_NAMES),
  seller: fc.constantFrom(...SELLERS),
  quantity: fc.integer({ min: 1, max: 3 }),
  isTest: fc.constantFrom(false, false, false, false, true),
  isLost: fc.boolean(),
  isNamedByKey: fc.boolean(),
});

const service = await startModelService();

test('the service agrees with a model of the shop on licenses and attention, whatever was bought at which provider', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.boolean(),
      fc.array(anyStep, { maxLength: 14 }),
      fc.infiniteStream(fc.nat()),
      async (hasUpgrades, steps, seeds) => {
        const { found, modeled } = await tell(service, { steps, hasUpgrades, seeds });
        assert.deepEqual(found, modeled);
      },
    ),
    { numRuns: RUNS, ...(SEED === '' ? {} : { seed: Number(SEED) }) },
  );
});
