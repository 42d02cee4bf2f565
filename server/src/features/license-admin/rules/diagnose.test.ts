import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { isUsable, licenseStatus } from '../../licenses/rules/status.ts';
import {
  anyStatusFacts,
  at,
  DAY_MS,
  perpetual,
  plus,
} from '../../licenses/rules/status-facts.fixture.ts';
import { diagnose } from './diagnose.ts';
import type { DiagnosisFacts, Refusals } from './diagnosis.ts';

const now = at('2026-03-20T12:00:00Z');
const dayBefore = (days: number): Date => plus(now, -days * DAY_MS);

type Change = Partial<Omit<DiagnosisFacts, 'license' | 'machines'>> & {
  readonly license?: Partial<DiagnosisFacts['license']>;
  readonly machines?: Partial<DiagnosisFacts['machines']>;
};

const working: DiagnosisFacts = {
  license: { ...perpetual, maxActivations: 2, customerEmail: 'ann@example.com' },
  now,
  machines: {
    active: 1,
    everActivated: 1,
    overdue: 0,
    lastSeenAt: now,
    changedAt: null,
    offlineDays: 14,
  },
  moves: { used: 1, limit: 5, days: 30, extra: 0 },
  refusals: [],
  keyReplacedAt: null,
  keyEmail: { state: 'sent', reason: null },
};

function factsOf({ license, machines, ...others }: Change): DiagnosisFacts {
  return {
    ...working,
    ...others,
    license: { ...working.license, ...license },
    machines: { ...working.machines, ...machines },
  };
}

function refused(reason: string, refusals = 3, lastAt = now): Refusals[] {
  return [{ reason, refusals, lastAt }];
}

const STOPS = 'The software stops at its next validation.';
const full = { active: 2, everActivated: 2 };
const unused = { active: 0, everActivated: 0, lastSeenAt: null };

/** What is known, the code, and the sentence. */
const TABLE: readonly (readonly [Change, string, string])[] = [
  [
    {},
    'ok works',
    'The license works on 1 of 2 computers, last seen today; nothing was refused this week.',
  ],
  [
    { license: { revokedAt: dayBefore(1) } },
    'problem revoked',
    `The license was revoked yesterday. ${STOPS}`,
  ],
  [
    { license: { refundedAt: dayBefore(9) } },
    'problem refunded',
    `The payment was refunded on 2026-03-11. ${STOPS}`,
  ],
  [
    { license: { suspendedAt: now } },
    'problem suspended',
    `An operator suspended the license today. ${STOPS}`,
  ],
  [
    { license: { disputedAt: dayBefore(9) } },
    'problem disputed',
    `The customer disputes the payment since 2026-03-11. ${STOPS}`,
  ],
  [
    { license: { pausedAt: dayBefore(9) } },
    'problem paused',
    `The subscription is paused since 2026-03-11. ${STOPS}`,
  ],
  [
    { license: { canceledAt: dayBefore(9) } },
    'problem canceled',
    `The subscription was canceled on 2026-03-11. ${STOPS}`,
  ],
  [
    { license: { expiresAt: dayBefore(9) } },
    'problem expired',
    `The license expired on 2026-03-11. ${STOPS}`,
  ],
  [
    { license: { expiresAt: dayBefore(9), trial: true } },
    'problem trial_expired',
    `The trial ended on 2026-03-11. ${STOPS}`,
  ],
  [
    { license: { expiresAt: dayBefore(15), subscription: true } },
    'problem payment_missing',
    `The paid period ended on 2026-03-05, and no payment followed. ${STOPS}`,
  ],
  [
    { license: { expiresAt: dayBefore(4), subscription: true } },
    'notice past_due',
    'The renewal was not paid; the license still works for 11 days.',
  ],
  [
    { license: { expiresAt: plus(now, 3 * DAY_MS) } },
    'notice ends_soon',
    'The license works and ends in 4 days.',
  ],
  [
    { license: { expiresAt: plus(now, 3 * DAY_MS), trial: true } },
    'ok ends_soon',
    'The trial works and ends in 4 days.',
  ],
  [
    {
      license: {
        expiresAt: plus(now, 3 * DAY_MS),
        subscription: true,
        cancelScheduledFor: plus(now, 3 * DAY_MS),
      },
    },
    'notice ends_soon',
    'The license works and ends in 4 days, because the subscription was canceled.',
  ],
  [
    { license: { expiresAt: plus(now, 3 * DAY_MS), subscription: true } },
    'ok works',
    'The license works on 1 of 2 computers, last seen today; nothing was refused this week.',
  ],
  [
    { machines: full, refusals: refused('activation_limit_reached') },
    'problem limit_reached',
    'All 2 computers are in use, and another one was refused (3 times this week, last today).',
  ],
  [
    {
      license: { maxActivations: 1 },
      refusals: refused('activation_limit_reached', 1, dayBefore(2)),
    },
    'problem limit_reached',
    'The one computer of the license is in use, and another one was refused (once this week, last on 2026-03-18).',
  ],
  [
    { refusals: refused('activation_limit_reached') },
    'ok works',
    'The license works on 1 of 2 computers, last seen today; what was refused this week is settled.',
  ],
  [
    {
      moves: { used: 5, limit: 5, days: 30, extra: 0 },
      refusals: refused('move_limit_reached', 2),
    },
    'problem move_limit_reached',
    'The license was used on 5 different computers within 30 days, which is its limit, and another one was refused (twice this week, last today).',
  ],
  [
    { refusals: refused('machine_mismatch') },
    'problem machine_mismatch',
    'A computer that is not the activated one used its activation and was refused, for example a copied disk or new hardware (3 times this week, last today).',
  ],
  [
    { refusals: refused('activation_inactive') },
    'problem activation_inactive',
    'A computer that was deactivated still runs the software and was refused (3 times this week, last today).',
  ],
  [
    { refusals: refused('activation_not_found') },
    'problem activation_not_found',
    'A computer uses an activation that this license does not have and was refused (3 times this week, last today).',
  ],
  [
    { machines: unused, keyEmail: { state: 'refused', reason: 'smtp_550' } },
    'problem key_not_sent',
    'The customer has no key: the e-mail with it was refused by the mail server.',
  ],
  [
    {
      machines: unused,
      license: { customerEmail: null },
      keyEmail: { state: 'waiting', reason: 'no_address' },
    },
    'problem no_address',
    'The customer has no key: the payment provider did not report an e-mail address, so that the key was not sent.',
  ],
  [{ machines: unused }, 'notice never_activated', 'No computer ever used this license.'],
  [
    { machines: unused, keyReplacedAt: dayBefore(1) },
    'notice never_activated',
    'No computer ever used this license; its key was replaced yesterday.',
  ],
  [
    { machines: { lastSeenAt: dayBefore(2) }, keyReplacedAt: dayBefore(1) },
    'problem key_replaced',
    'The key was replaced yesterday, and no computer has used the new one; the old key is unknown.',
  ],
  [
    { machines: { active: 0, lastSeenAt: dayBefore(9) } },
    'notice no_machine',
    'The license is usable and active on no computer; the last one was seen on 2026-03-11.',
  ],
  [
    { machines: { ...full, overdue: 1 } },
    'notice some_offline',
    'The license works, but 1 computer of 2 did not reach the service for more than 14 days, and must before the software runs there again.',
  ],
  [
    { machines: { ...full, overdue: 2, lastSeenAt: dayBefore(20) } },
    'problem offline',
    'No computer reached the service for 20 days; the software runs for 14 days without it.',
  ],
  [
    { machines: full },
    'ok limit_full',
    'The license works on its 2 computers; another computer would be refused.',
  ],
];

for (const [change, code, sentence] of TABLE) {
  test(`${code}: ${sentence}`, () => {
    const diagnosis = diagnose(factsOf(change));
    assert.deepEqual(
      [`${diagnosis.level} ${diagnosis.code}`, diagnosis.sentence],
      [code, sentence],
    );
    assert.ok(diagnosis.advice.endsWith('.'));
  });
}

for (const reason of ['machine_mismatch', 'activation_inactive', 'activation_not_found']) {
  test(`${reason} is settled once a machine is activated or freed`, () => {
    const facts = { machines: { changedAt: now }, refusals: refused(reason, 1, dayBefore(1)) };
    assert.equal(diagnose(factsOf(facts)).code, 'works');
  });
}

test('the newest refusal whose cause still applies is explained', () => {
  const refusals = [
    ...refused('machine_mismatch', 9, dayBefore(3)),
    ...refused('activation_limit_reached', 1, dayBefore(2)),
    ...refused('activation_inactive', 1, dayBefore(1)),
  ];
  assert.equal(diagnose(factsOf({ refusals })).code, 'activation_inactive');
  assert.equal(diagnose(factsOf({ refusals: refusals.slice(0, 2) })).code, 'machine_mismatch');
});

test('a license that does not run is a problem, and one that works is never stopped by its status', () => {
  fc.assert(
    fc.property(anyStatusFacts, (license) => {
      const { level } = diagnose(factsOf({ license }));
      assert.equal(
        level === 'problem',
        !isUsable(licenseStatus({ ...working.license, ...license }, now)),
      );
    }),
  );
});
