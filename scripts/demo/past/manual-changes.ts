/** What operators changed and looked at, through the use cases of the console and the command line. */
import { recordAccess } from '#server/features/audit/record-access.ts';
import { rekeyAndSend } from '#server/features/key-emails/send-replaced-key.ts';
import { resendKeyEmails } from '#server/features/key-emails/requeue-emails.ts';
import {
  allowMoves,
  extendLicense,
  reinstateLicense,
  revokeLicense,
  suspendLicense,
} from '#server/features/licenses/change-license.ts';
import { eraseSubscriber } from '#server/features/subscribers/manual-changes.ts';
import { suppressManually } from '#server/features/suppressions/manual-changes.ts';

import { SHOPS } from '../payments/shops.ts';
import type { Random } from '../random.ts';
import { DAY_MS, HOUR_MS, startOfDay } from '../time.ts';
import { createPerson } from '../world/people.ts';
import type { PlannedSale } from '../world/plan.ts';
import { ADMIN, SECOND_ADMIN, SUPPORT, type DemoOperator } from './people.ts';
import type { Action, World } from './world.ts';

type Change = (
  context: World['context'],
  target: { readonly keyOrId: string; readonly actor: string; readonly reason: string },
  sale: PlannedSale,
) => Promise<unknown>;

interface Kind {
  readonly weight: number;
  readonly by: readonly DemoOperator[];
  readonly reasons: readonly string[];
  readonly run: Change;
}

const KINDS = {
  reveal: {
    weight: 30,
    by: [SUPPORT, SUPPORT, ADMIN],
    reasons: ['Customer lost the e-mail with the key', 'Call with the customer', 'Ticket 4417'],
    run: (context, { keyOrId, actor, reason }) =>
      recordAccess(context, {
        actor,
        action: 'license.reveal',
        subjectId: keyOrId,
        reason,
        details: {},
      }),
  },
  extend: {
    weight: 16,
    by: [SUPPORT],
    reasons: [
      'Card was replaced, payment follows',
      'Outage on their side',
      'Goodwill, ticket 4390',
    ],
    run: (context, target) => extendLicense(context, target, { days: 14 }),
  },
  allowMove: {
    weight: 14,
    by: [SUPPORT],
    reasons: ['New laptop after a theft', 'Lab replaced its computers', 'Reinstalled twice'],
    run: (context, target) => allowMoves(context, target, 1),
  },
  resend: {
    weight: 12,
    by: [SUPPORT],
    reasons: ['The first e-mail was in the spam folder', 'Customer asked for the key again'],
    run: (context, { actor, reason }, { sale }) => {
      const [transactionId = ''] = SHOPS[sale.provider].listTransactionIds(sale);
      return resendKeyEmails(context, { which: { transactionId }, actor, reason });
    },
  },
  rekey: {
    weight: 7,
    by: [ADMIN],
    reasons: ['Key was posted in a forum', 'Employee left with the key'],
    run: (context, target) =>
      rekeyAndSend(context, { ...target, keepMachines: true, wantsMail: true }),
  },
  suspend: {
    weight: 6,
    by: [ADMIN, SECOND_ADMIN],
    reasons: ['Activated in nine countries within a day', 'Reseller has not paid its invoice'],
    run: (context, target) => suspendLicense(context, target),
  },
  suspendAndReinstate: {
    weight: 5,
    by: [ADMIN],
    reasons: ['Unclear payment'],
    run: async (context, target) => {
      await suspendLicense(context, target);
      await reinstateLicense(context, { ...target, reason: 'Paid by bank transfer' });
    },
  },
  revoke: {
    weight: 5,
    by: [ADMIN, SECOND_ADMIN],
    reasons: ['Bought with a stolen card', 'Key was sold on an auction site'],
    run: (context, target) => revokeLicense(context, target),
  },
} as const satisfies Readonly<Record<string, Kind>>;

/** The number of changes of all kinds for 1,000 licenses. */
const CHANGES_PER_THOUSAND = 30;

/** One of each kind, and more at random, over the last half year. */
export function listManualChanges(world: World): Action[] {
  const random = world.random.fork('manual changes');
  const kinds: Kind[] = Object.values(KINDS);
  const choices = kinds.map((kind) => [kind, kind.weight] as const);
  const more = Math.round((world.plans.sales.length / 1_000) * CHANGES_PER_THOUSAND);
  const chosen = [...kinds, ...Array.from({ length: more }, () => random.weighted<Kind>(choices))];
  const changes = chosen.map((kind) => {
    const dayMs = startOfDay(world.nowMs - (0.6 + random.next() * 180) * DAY_MS);
    const atMs = Math.min(dayMs + (8 + random.next() * 9) * HOUR_MS, world.nowMs - HOUR_MS);
    return { atMs, run: change(world, kind, random, atMs) };
  });
  return [...changes, ...listAddressChanges(world)];
}

function change({ context, licenses, plans }: World, kind: Kind, random: Random, atMs: number) {
  const old = plans.sales.filter(
    ({ changes, moneyBack, sale, uses }) =>
      sale.at.getTime() < atMs - 3 * DAY_MS &&
      uses.length > 0 &&
      changes.length === 0 &&
      moneyBack === null,
  );
  const sale = random.pick(old);
  const target = { actor: random.pick(kind.by).actor, reason: random.pick(kind.reasons) };
  return async (): Promise<void> => {
    const license = licenses.get(sale)?.[0];
    if (license !== undefined) await kind.run(context, { keyOrId: license.id, ...target }, sale);
  };
}

/** Requests about addresses, and accesses to personal data. */
function listAddressChanges({ context, nowMs, random }: World): Action[] {
  const ago = (days: number): number => nowMs - days * DAY_MS;
  const person = (number: number) =>
    createPerson(random.fork(`request ${number}`), 90_000 + number);
  const suppress = (number: number, daysAgo: number): Action => ({
    atMs: ago(daysAgo),
    run: () =>
      suppressManually(context, {
        email: person(number).email,
        actor: SUPPORT.actor,
        reason: 'Asked by phone to get no more mail',
      }),
  });
  const access = (daysAgo: number, action: string, subjectId: string, reason: string): Action => ({
    atMs: ago(daysAgo),
    run: () =>
      recordAccess(context, { actor: ADMIN.actor, action, subjectId, reason, details: {} }),
  });
  return [
    ...[3, 17, 40, 66, 91].map((daysAgo, number) => suppress(number, daysAgo + 0.4)),
    {
      atMs: ago(12.3),
      run: () =>
        eraseSubscriber(context, {
          email: person(9).email,
          actor: ADMIN.actor,
          reason: 'Request for erasure by e-mail',
        }),
    },
    access(27.2, 'subscriber.export', 'subscribers', 'Newsletter of November'),
    access(58.1, 'license.list', 'licenses', 'Figures for the tax adviser'),
  ];
}
