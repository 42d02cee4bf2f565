import assert from 'node:assert/strict';
import { test } from 'node:test';

import { PublicJwk } from '@latchkey/contract';
import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { verifyEntitlement } from '../entitlements.ts';
import { eventually } from '../eventually.ts';
import { anyMachine, startTrial } from '../license-steps.ts';
import { runConcurrently, tally } from './concurrency.ts';
import { openBrowsers, openDeployments } from './deployments.ts';

const deployments = await openDeployments();
const { now, pick } = deployments;
const browserOf = await openBrowsers(deployments);

const SIGNING_KEYS = '/api/v1/admin/signing-keys';
const ROTATIONS = 6;
const SigningKeys = Type.Object({
  items: Type.Array(Type.Object({ kid: Type.String(), state: Type.String() })),
});
const KeySet = Type.Object({ keys: Type.Array(PublicJwk) });

async function listKeys() {
  const answer = await browserOf(0).get(SIGNING_KEYS);
  return Parse(SigningKeys, answer.body).items;
}

/** Lets each process read the keys, and waits until each one publishes them. */
async function waitForKeys(count: number): Promise<void> {
  await deployments.reload();
  await eventually(async () => {
    const answers = await runConcurrently(8, (index) => pick(index).get('/.well-known/jwks.json'));
    return answers.every(({ body }) => Parse(KeySet, body).keys.length === count);
  });
}

/** Starts a trial at the process of a turn, and returns its entitlement. */
async function startTrialAt(index: number): Promise<string | null> {
  return (await startTrial(pick(index), anyMachine())).entitlement ?? null;
}

async function readKeyId(entitlement: string | null, index: number): Promise<string> {
  const { header } = await verifyEntitlement(pick(index), entitlement, now());
  return String(header['kid']);
}

test('of signing keys that two processes create at once one signs, and no token is refused', async () => {
  const before = await listKeys();
  const [rotations, early] = await Promise.all([
    runConcurrently(ROTATIONS, (index) =>
      browserOf(index).post(`${SIGNING_KEYS}/rotate`, { immediately: true, reason: 'a race' }),
    ),
    runConcurrently(20, startTrialAt),
  ]);
  assert.deepEqual(tally(rotations.map(({ status }) => status)), { 200: ROTATIONS });
  await waitForKeys(before.length + ROTATIONS);
  const keys = await listKeys();
  const signing = keys.filter(({ state }) => state === 'signing').map(({ kid }) => kid);
  assert.equal(signing.length, 1);
  assert.equal(keys.filter(({ state }) => state === 'retired').length, keys.length - 1);
  const late = await runConcurrently(8, startTrialAt);
  const used = await Promise.all(late.map(readKeyId));
  assert.deepEqual([...new Set(used)], signing);
  const usedBefore = await Promise.all(early.map(readKeyId));
  const known = new Set(keys.map(({ kid }) => kid));
  assert.ok(usedBefore.every((kid) => known.has(kid)));
});

test('a signing key that is created at one process signs at none before each can publish it', async () => {
  const before = await listKeys();
  const signing = before.find(({ state }) => state === 'signing');
  const rotated = await runConcurrently(2, (index) =>
    browserOf(index).post(`${SIGNING_KEYS}/rotate`, { reason: 'a race' }),
  );
  assert.deepEqual(tally(rotated.map(({ status }) => status)), { 200: 2 });
  await waitForKeys(before.length + 2);
  const entitlements = await runConcurrently(8, startTrialAt);
  const used = await Promise.all(entitlements.map(readKeyId));
  assert.deepEqual([...new Set(used)], [signing?.kid]);
});
