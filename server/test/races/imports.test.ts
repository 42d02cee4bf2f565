import assert from 'node:assert/strict';
import { test } from 'node:test';

import { runImport } from '#server/features/imports/import-steps.fixture.ts';
import { APRIL, CATALOG } from '#server/features/imports/provider-shops.fixture.ts';
import {
  deliver,
  findByKey,
  listLicenseIds,
  openStory,
  rowOf,
} from '#server/features/imports/subscriber-story.fixture.ts';

import { startTestService } from '../harness.ts';
import { testCatalog } from '../test-catalog.ts';
import { runConcurrently } from './concurrency.ts';

const catalog = testCatalog(CATALOG);
const one = await startTestService({ catalog });
const two = await startTestService({ catalog, beside: one });
one.clock.set(APRIL);

const csv = { source: 'csv' } as const;

test('a renewal and an import of the key at the same time lead to one license with the key', async () => {
  for (let round = 0; round < 15; round += 1) {
    const story = openStory(`race-${round}`);
    await Promise.all([
      deliver(one, story, 'renewal'),
      runImport(two.context, [rowOf(story)], csv),
      deliver(two, story, 'update'),
    ]);
    const [id, ...others] = await listLicenseIds(one, story);
    assert.deepEqual(others, []);
    assert.equal(await findByKey(one, story.licenseKey), id);
  }
});

test('two imports of a key at the same time add it once to the license of a payment', async () => {
  for (let round = 0; round < 15; round += 1) {
    const story = openStory(`twice-${round}`);
    await deliver(one, story, 'renewal');
    const results = await runConcurrently(2, (index) =>
      runImport((index === 0 ? one : two).context, [rowOf(story)], csv),
    );
    const outcomes = results.map(({ report }) => report.outcomes);
    const added = outcomes.reduce((sum, each) => sum + each.key_added, 0);
    const same = outcomes.reduce((sum, each) => sum + each.same, 0);
    assert.deepEqual([added, same], [1, 1]);
    const [id, ...others] = await listLicenseIds(one, story);
    assert.deepEqual(others, []);
    assert.equal(await findByKey(one, story.licenseKey), id);
  }
});
