import assert from 'node:assert/strict';
import { test } from 'node:test';

import { THEMES } from '../scenes/all-scenes.ts';
import type { Answer } from '../driver/answer.ts';
import { compareClients } from './compare-clients.ts';
import { findAnyDifference, findDifference } from './difference.ts';
import type { Outcome } from './outcome.ts';
import { Transcript } from './transcript.ts';

const START = Date.parse('2027-01-15T08:00:00Z');

const STATE: NonNullable<Answer['state']> = {
  may_run: true,
  kind: 'licensed',
  reason: null,
  tier: 'personal',
  features: ['history'],
  days_left: 14,
  source: 'service',
  clock_went_back: false,
  until: null,
  last_answer_at: null,
};

test('there are at least 60 scenes, each with a name of its own', () => {
  const names = THEMES.flatMap(({ name, scenes }) => scenes.map((each) => `${name}: ${each.name}`));
  assert.ok(names.length >= 60);
  assert.deepEqual([...new Set(names)], names);
});

test('an answer may have more fields than expected, but no other values', () => {
  const actual = { result: { ok: true, max: 2 }, state: { ...STATE } };
  assert.equal(findDifference({ result: { ok: true } }, actual), null);
  assert.equal(findDifference({ state: { features: ['history'] } }, actual), null);
  assert.equal(
    findDifference({ state: { days_left: 13 } }, actual),
    'state.days_left is 14 instead of 13',
  );
  assert.equal(
    findDifference({ result: { code: 'x' } }, actual),
    'result.code is absent instead of "x"',
  );
  assert.equal(
    findDifference({ state: { features: [] } }, actual),
    'state.features is ["history"] instead of []',
  );
  assert.equal(
    findDifference({ reason: null }, { reason: undefined }),
    'reason is absent instead of null',
  );
  assert.equal(findDifference(['a', 'b'], ['a', 'c']), '1 is "c" instead of "b"');
  assert.equal(findDifference({ a: {} }, { a: null }), 'a is null instead of {}');
});

test('two answers are compared as a whole', () => {
  assert.equal(findAnyDifference({ a: 1 }, { a: 1 }), null);
  assert.equal(findAnyDifference({ a: 1 }, { a: 1, b: 2 }), 'b is 2 instead of absent');
});

test('a transcript contains no times, ids and keys that differ from run to run', () => {
  const transcript = new Transcript(START);
  const machine = { is_active: true, is_this: false };
  transcript.add(
    'machines',
    {
      state: { ...STATE, until: '2027-01-29T08:00:07Z', last_answer_at: '2027-01-15T08:00:03.5Z' },
      result: {
        ok: true,
        available_at: '2027-02-14T08:00:01Z',
        machines: [
          { ...machine, activation_id: 'b' },
          { ...machine, activation_id: 'a' },
          { ...machine, activation_id: 'b' },
        ],
      },
      problems: ['file_damaged'],
    },
    [{ method: 'GET', path: '/api/v1/licenses/LK-1/activations', headers: {}, body: Buffer.of() }],
  );
  assert.deepEqual(transcript.steps, [
    {
      did: 'machines',
      answer: {
        state: { ...STATE, until: 336, last_answer_at: 0 },
        result: {
          ok: true,
          available_at: 720,
          machines: [0, 1, 0].map((id) => ({ ...machine, activation_id: id })),
        },
      },
      requests: ['GET /api/v1/licenses/{license_key}/activations'],
    },
  ]);
});

/** The outcome of a client that did what a scene expects. */
function played(code: string): Outcome {
  const answer = { result: { ok: false, code } };
  return { status: 'ok', steps: [{ did: 'activate', answer, requests: [] }] };
}

test('a client differs when its transcript is not that of the first one', () => {
  const skipped: Outcome = { status: 'skipped', reason: 'no swift' };
  const outcomes = new Map([
    ['cpp', skipped],
    ['go', played('license_revoked')],
    ['python', played('license_revoked')],
    ['rust', played('revoked')],
  ]);
  const compared = compareClients(outcomes);
  assert.deepEqual(
    [...compared].map(([client, { status }]) => [client, status]),
    [
      ['cpp', 'skipped'],
      ['go', 'ok'],
      ['python', 'ok'],
      ['rust', 'differs'],
    ],
  );
  assert.deepEqual(compared.get('rust'), {
    status: 'differs',
    reason: 'activate: other than go: answer.result.code is "revoked" instead of "license_revoked"',
  });
});
