import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findLicenseIdByKey } from '#server/features/licenses/queries/license-keys.ts';
import { requireKeyHash } from '#server/features/licenses/license-key.ts';
import { validateLicense } from '#server/features/licenses/validate.ts';

import { startTestService, type TestService } from '../harness.ts';
import { anyAddress } from '../http-client.ts';

const GUESSES = 10_000;
const IMPORTED = ['SHOP-3333', 'SHOP-7777'];

/** Validates a key like the route; returns the reason of the answer, or the code of the refusal. */
async function guess(service: TestService, licenseKey: string, address: string): Promise<string> {
  const request = {
    license_key: licenseKey,
    activation_id: '0199a3c4-7b1e-7cc1-8d5e-2f6f0c1a9b3d',
    machine_id: 'any',
  };
  try {
    return (await validateLicense(service.context, request, address)).reason ?? 'valid';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'failed';
  }
}

/** Counts the answers to one network that tries keys concurrently. */
async function countAnswers(
  service: TestService,
  keys: readonly string[],
  concurrency: number,
): Promise<Readonly<Record<string, number>>> {
  const address = anyAddress();
  const counts: Record<string, number> = {};
  for (let from = 0; from < keys.length; from += concurrency) {
    const some = keys.slice(from, from + concurrency);
    for (const answer of await Promise.all(some.map((key) => guess(service, key, address)))) {
      counts[answer] = (counts[answer] ?? 0) + 1;
    }
  }
  return counts;
}

/**
 * While an address was paused, each of its guesses was still looked up: 429 meant a wrong key, 200 a right one. So 10,000
 * guesses in 7 seconds found both imported keys.
 */
test('10,000 guesses from one network find neither of two imported keys', async () => {
  const service = await startTestService();
  for (const licenseKey of IMPORTED) await service.issue({ licenseKey });
  const keys = Array.from(
    { length: GUESSES },
    (_, index) => `SHOP-${String(index).padStart(4, '0')}`,
  );
  assert.deepEqual(await countAnswers(service, keys, 500), {
    license_not_found: 10,
    rate_limited: GUESSES - 10,
  });
  assert.deepEqual(await countAnswers(service, keys.slice(3_300, 3_400), 1), {
    license_not_found: 10,
    rate_limited: 90,
  });
  for (const key of IMPORTED) {
    const keyHash = requireKeyHash(service.context, key);
    assert.notEqual(await findLicenseIdByKey(service.pool, [keyHash]), null);
    assert.equal(await guess(service, key, anyAddress()), 'activation_not_found');
  }
});

/**
 * In a batch of look-ups, found keys were answered before the failures of the same batch were counted: a network had as many
 * guesses as a batch has inputs, and with a previous master secret as many as it sent concurrently.
 */
test('refuses concurrent guesses after the tenth wrong one', async () => {
  for (const previousSecrets of [[], ['an earlier master secret of 32 bytes or more']]) {
    const service = await startTestService({ previousSecrets });
    await service.issue({ licenseKey: 'SHOP-0199' });
    const keys = Array.from(
      { length: 200 },
      (_, index) => `SHOP-${String(index).padStart(4, '0')}`,
    );
    assert.deepEqual(await countAnswers(service, keys, keys.length), {
      license_not_found: 10,
      rate_limited: 190,
    });
  }
});
