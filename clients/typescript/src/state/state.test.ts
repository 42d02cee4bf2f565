import assert from 'node:assert/strict';
import { test } from 'node:test';

import { claimsWith, DAY_MS, NOW_MS } from '../../test/signer.ts';
import { NEW_CLOCK } from '../clock/clock.ts';
import { readClaims } from '../tokens/claims.ts';
import { differs } from './differs.ts';
import { deriveState, type Facts } from './state.ts';

const FACTS: Facts = {
  isActivated: true,
  claims: readClaims(claimsWith()),
  refusal: null,
  clock: NEW_CLOCK,
  deviceMs: NOW_MS,
  isAnswered: false,
  lastAnswerAt: null,
};

const COMMON = { source: 'kept', lastAnswerAt: null, clockWentBack: false };
const NO_TERMS = { tier: null, features: [], until: null, daysLeft: null };

test('a genuine entitlement lets the program run', () => {
  assert.deepEqual(deriveState(FACTS), {
    ...COMMON,
    kind: 'licensed',
    mayRun: true,
    reason: null,
    tier: 'personal',
    features: ['history', 'gpu'],
    until: '2027-01-29T08:00:00.000Z',
    daysLeft: 14,
  });
});

test('a trial runs, too', () => {
  const { kind, mayRun } = deriveState({
    ...FACTS,
    claims: readClaims(claimsWith({ trial: true })),
  });
  assert.deepEqual([kind, mayRun], ['trial', true]);
});

function daysLeft(deviceMs: number): number | null {
  return deriveState({ ...FACTS, deviceMs }).daysLeft;
}

test('counts days that have begun', () => {
  assert.deepEqual(
    [1, DAY_MS, 14 * DAY_MS - 1, 15 * DAY_MS].map((passed) => daysLeft(NOW_MS + passed)),
    [14, 13, 1, 0],
  );
});

test('ends with the entitlement, or with the license', () => {
  const at = { ...FACTS, deviceMs: NOW_MS + 14 * DAY_MS };
  const { kind, mayRun, reason, until, features } = deriveState(at);
  assert.deepEqual(features, []);
  assert.deepEqual([kind, mayRun, reason], ['ended', false, 'entitlement_expired']);
  assert.equal(until, '2027-01-29T08:00:00.000Z');
  const expires = (seconds: number) =>
    deriveState({
      ...at,
      claims: readClaims(claimsWith({ license_expires_at: NOW_MS / 1000 + seconds })),
    }).reason;
  assert.equal(expires(14 * 86_400), 'license_expired');
  assert.equal(expires(14 * 86_400 + 1), 'entitlement_expired');
});

test('is nothing without a license, and without an entitlement of this machine', () => {
  const none = { ...COMMON, ...NO_TERMS, kind: 'none', mayRun: false };
  assert.deepEqual(deriveState({ ...FACTS, isActivated: false }), {
    ...none,
    reason: 'not_activated',
  });
  assert.deepEqual(deriveState({ ...FACTS, claims: null }), {
    ...none,
    reason: 'entitlement_invalid',
  });
  const early = deriveState({ ...FACTS, deviceMs: NOW_MS - 300_001 });
  assert.equal(early.reason, 'entitlement_invalid');
});

test('a refusal of the service counts more than an entitlement', () => {
  assert.deepEqual(deriveState({ ...FACTS, refusal: 'license_revoked' }), {
    ...COMMON,
    ...NO_TERMS,
    kind: 'refused',
    mayRun: false,
    reason: 'license_revoked',
  });
});

test('a clock that was set back locks nothing', () => {
  const clock = { offsetMs: 0, latestMs: NOW_MS };
  const { mayRun, clockWentBack } = deriveState({ ...FACTS, clock, deviceMs: 0 });
  assert.deepEqual([mayRun, clockWentBack], [true, true]);
});

test('an end beyond the calendar is still a text', () => {
  const claims = readClaims(claimsWith({ exp: Number.MAX_SAFE_INTEGER }));
  assert.equal(deriveState({ ...FACTS, claims }).until, '+275760-09-13T00:00:00.000Z');
});

test('only what a program shows is a change', () => {
  const state = deriveState(FACTS);
  assert.equal(differs(state, { ...state, source: 'service', lastAnswerAt: 'now' }), false);
  assert.equal(differs(state, deriveState({ ...FACTS, deviceMs: NOW_MS + DAY_MS })), true);
});
