/**
 * A rotation read its clock before it waited for the lock. So a signing key that another process created in between was retired before
 * it was created, and shown as revoked, although it stayed in the key set.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { rotateSigningKey } from '#server/features/entitlements/rotate-signing-key.ts';
import { viewSigningKeys } from '#server/features/entitlements/view-signing-keys.ts';

import { startTestService } from '../harness.ts';
import { createTestClock, SECOND_MS } from '../test-clock.ts';

const change = { actor: 'test', reason: 'a test' };

test('a key of a process whose clock is ahead is retired by the next rotation, and signs no more', async () => {
  const { context, clock } = await startTestService();
  const { pool, vault } = context;
  const ahead = createTestClock(new Date(clock.now().getTime() + SECOND_MS));
  const immediately = { immediately: true };
  const first = await rotateSigningKey({ pool, vault, clock: ahead }, immediately, change);
  const second = await rotateSigningKey({ pool, vault, clock }, immediately, change);
  const statesAt = async (now: typeof clock): Promise<unknown> =>
    Object.fromEntries(
      (await viewSigningKeys({ pool, vault, clock: now })).map(({ record, state }) => [
        record.kid,
        state,
      ]),
    );
  const others = await statesAt(ahead);
  assert.partialDeepStrictEqual(others, { [first.kid]: 'retired', [second.kid]: 'signing' });
  assert.partialDeepStrictEqual(await statesAt(clock), { [second.kid]: 'signing' });
});
