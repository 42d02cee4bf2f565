import assert from 'node:assert/strict';
import { test } from 'node:test';

import { PublicError } from '#server/errors.ts';
import { apiKeySource, viewApiKey } from '#server/features/api-keys/list-api-keys.ts';

import { createKey, revokeKeys, rollKey } from '../api-key-steps.ts';
import { HOUR_MS } from '../test-clock.ts';
import { runConcurrently, roundRobin, tally } from './concurrency.ts';
import { openBrowsers, openDeployments } from './deployments.ts';

const deployments = await openDeployments();
const { one, two } = deployments;
const browserOf = await openBrowsers(deployments);
/** For what the interface does not offer. */
const pickService = roundRobin([one, two]);

const API_KEYS = '/api/v1/admin/api-keys';

const ROUNDS = 10;

/** Whether a change was made or refused; anything else is an error. */
async function outcomeOf(change: Promise<unknown>): Promise<'made' | 'refused'> {
  try {
    await change;
    return 'made';
  } catch (error) {
    if (error instanceof PublicError) return 'refused';
    throw error;
  }
}

async function listStates(name: string): Promise<string[]> {
  const request = { sort: 'created_at', descending: true, after: null, limit: 1_000 };
  const now = one.clock.now();
  const { rows } = await apiKeySource(one.context).read({ search: name }, now)(request);
  return rows.filter((key) => key.name === name).map((key) => viewApiKey(key, now).state);
}

test('a key that is rolled concurrently has one successor', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { key } = await createKey(one);
    const answers = await runConcurrently(6, (index) =>
      browserOf(index).post(`${API_KEYS}/${key.id}/roll`, { overlap_seconds: 3_600 }),
    );
    assert.deepEqual(tally(answers.map(({ status }) => status)), { 200: 1, 409: 5 });
    assert.deepEqual(tally(await listStates(key.name)), { active: 1, rolled: 1 });
  }
});

test('a name that is rolled concurrently has one key at all times', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { key } = await createKey(one);
    const outcomes = await runConcurrently(6, (index) =>
      outcomeOf(rollKey(pickService(index), key.name, HOUR_MS)),
    );
    const { made = 0 } = tally(outcomes);
    assert.ok(made >= 1);
    assert.deepEqual(tally(await listStates(key.name)), { active: 1, rolled: made });
  }
});

test('of concurrent creations with one name one succeeds', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const name = `wanted ${round}`;
    const answers = await runConcurrently(6, (index) =>
      browserOf(index).post(API_KEYS, { name, scopes: ['outreach:send'] }),
    );
    assert.deepEqual(tally(answers.map(({ status }) => status)), { 200: 1, 409: 5 });
    assert.deepEqual(await listStates(name), ['active']);
  }
});

test('a name that is revoked while it is rolled has no valid key afterwards', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { key } = await createKey(one);
    await Promise.all([
      outcomeOf(rollKey(one, key.name, HOUR_MS)),
      outcomeOf(revokeKeys(two, key.name)),
    ]);
    const states = new Set(await listStates(key.name));
    assert.deepEqual([...states], ['revoked']);
  }
});
