import { strict as assert } from 'node:assert';
import { test } from 'node:test';

import { API_KEY_SCOPES } from '@latchkey/contract';
import {
  grantsScope,
  apiKeyState,
  endOfOverlap,
  expiryOfSuccessor,
  isUsable,
  type ApiKeyFacts,
} from './api-key.ts';

const HOUR_MS = 3_600_000;
const now = new Date('2027-03-01T12:00:00.000Z');
const inHours = (hours: number) => new Date(now.getTime() + hours * HOUR_MS);

function keyWith(facts: Partial<ApiKeyFacts>): ApiKeyFacts {
  return {
    createdAt: inHours(-10),
    expiresAt: null,
    revokedAt: null,
    replacedBy: null,
    ...facts,
  };
}

test('only the scope and admin grant a scope', () => {
  const granted = API_KEY_SCOPES.flatMap((held) =>
    API_KEY_SCOPES.filter((asked) => grantsScope([held], asked)).map((asked) => [held, asked]),
  );
  assert.deepEqual(granted, [
    ['outreach:send', 'outreach:send'],
    ['metrics:read', 'metrics:read'],
    ['subscribers:write', 'subscribers:write'],
    ['admin:read', 'admin:read'],
    ['admin:support', 'admin:support'],
    ['admin', 'outreach:send'],
    ['admin', 'metrics:read'],
    ['admin', 'subscribers:write'],
    ['admin', 'admin:read'],
    ['admin', 'admin:support'],
    ['admin', 'admin'],
  ]);
  assert.equal(grantsScope(['metrics:read', 'outreach:send'], 'outreach:send'), true);
  assert.equal(grantsScope(['a scope of a later version'], 'metrics:read'), false);
  assert.equal(grantsScope([], 'metrics:read'), false);
});

test('the state of a key: revoked before expired before rolled', () => {
  const time = inHours(-1);
  for (const [facts, state, usable] of [
    [{}, 'active', true],
    [{ expiresAt: inHours(1) }, 'active', true],
    [{ expiresAt: now }, 'expired', false],
    [{ replacedBy: 'another', expiresAt: inHours(1) }, 'rolled', true],
    [{ replacedBy: 'another', expiresAt: time }, 'expired', false],
    [{ revokedAt: time }, 'revoked', false],
    [{ revokedAt: time, expiresAt: time, replacedBy: 'another' }, 'revoked', false],
  ] as const) {
    const key = keyWith(facts);
    assert.deepEqual([apiKeyState(key, now), isUsable(key, now)], [state, usable]);
  }
});

test('an overlap never lengthens the life of a key', () => {
  assert.deepEqual(endOfOverlap(keyWith({}), now, 24 * HOUR_MS), inHours(24));
  assert.deepEqual(endOfOverlap(keyWith({}), now, 0), now);
  assert.deepEqual(endOfOverlap(keyWith({ expiresAt: inHours(3) }), now, 24 * HOUR_MS), inHours(3));
  assert.deepEqual(endOfOverlap(keyWith({ expiresAt: inHours(-3) }), now, HOUR_MS), inHours(-3));
});

test('the successor has the lifetime of the key', () => {
  assert.equal(expiryOfSuccessor(keyWith({}), now), null);
  assert.deepEqual(expiryOfSuccessor(keyWith({ expiresAt: inHours(2) }), now), inHours(12));
  assert.deepEqual(expiryOfSuccessor(keyWith({ expiresAt: inHours(-4) }), now), inHours(6));
});
