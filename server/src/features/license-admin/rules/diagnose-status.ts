import { countOf } from '#server/lib/text.ts';

import {
  isUsable,
  licenseStatus,
  usableUntil,
  type RefusedStatus,
} from '../../licenses/rules/status.ts';
import type { Diagnosis, DiagnosisFacts } from './diagnosis.ts';
import { daysBetween, formatDay } from './wording.ts';

/** How long before its end a license is said to end soon. */
const ENDS_SOON_DAYS = 14;

/** Diagnoses a license whose status stops every computer; null: its status lets it run. */
export function diagnoseStatus(facts: DiagnosisFacts): Diagnosis | null {
  const status = licenseStatus(facts.license, facts.now);
  return isUsable(status) ? null : EXPLANATIONS[status](facts);
}

const EXPLANATIONS: Readonly<Record<RefusedStatus, (facts: DiagnosisFacts) => Diagnosis>> = {
  revoked: ({ license, now }) =>
    stop('revoked', `The license was revoked${on(license.revokedAt, now)}.`, {
      advice: 'Reinstate it if that was a mistake. The timeline has the reason.',
      actions: ['reinstate'],
    }),
  refunded: ({ license, now }) =>
    stop('refunded', `The payment was refunded${on(license.refundedAt, now)}.`, {
      advice: 'The customer needs a new purchase, or you issue a license.',
      actions: ['issue'],
    }),
  suspended: diagnoseSuspension,
  paused: ({ license, now }) =>
    stop('paused', `The subscription is paused${since(license.pausedAt, now)}.`, {
      advice: 'The customer resumes it in the portal of the payment provider.',
      actions: [],
    }),
  canceled: ({ license, now }) =>
    stop('canceled', `The subscription was canceled${on(license.canceledAt, now)}.`, {
      advice: 'The customer needs a new subscription, or you issue a license.',
      actions: ['issue'],
    }),
  expired: diagnoseExpiry,
};

function on(time: Date | null, now: Date): string {
  return time === null ? '' : ` ${formatDay(time, now)}`;
}

function since(time: Date | null, now: Date): string {
  if (time === null) return '';
  const day = formatDay(time, now);
  return ` since ${day.replace(/^on /, '')}`;
}

function stop(
  code: string,
  sentence: string,
  { advice, actions }: Pick<Diagnosis, 'advice' | 'actions'>,
): Diagnosis {
  const effect = 'The software stops at its next validation.';
  return { code, level: 'problem', sentence: `${sentence} ${effect}`, advice, actions };
}

function diagnoseSuspension({ license, now }: DiagnosisFacts): Diagnosis {
  if (license.suspendedAt !== null) {
    const sentence = `An operator suspended the license ${formatDay(license.suspendedAt, now)}.`;
    return stop('suspended', sentence, {
      advice: 'Reinstate it once the reason is settled. The timeline has the reason.',
      actions: ['reinstate'],
    });
  }
  return stop('disputed', `The customer disputes the payment${since(license.disputedAt, now)}.`, {
    advice:
      'Answer the dispute at the payment provider. Reinstate the license if it was withdrawn and the provider did not report that.',
    actions: ['reinstate'],
  });
}

function diagnoseExpiry({ license, now }: DiagnosisFacts): Diagnosis {
  const { expiresAt, subscription, trial } = license;
  const ended = expiresAt === null ? '' : ` ${formatDay(expiresAt, now)}`;
  if (trial) {
    return stop('trial_expired', `The trial ended${ended}.`, {
      advice: 'The customer needs a license. To prolong the trial, extend it.',
      actions: ['extend', 'issue'],
    });
  }
  if (subscription) {
    return stop('payment_missing', `The paid period ended${ended}, and no payment followed.`, {
      advice:
        'The customer updates the card in the portal of the payment provider. Extend the license to bridge the time.',
      actions: ['extend'],
    });
  }
  return stop('expired', `The license expired${ended}.`, {
    advice: 'The customer renews it, or you extend it.',
    actions: ['extend'],
  });
}

/** Announces the end of a license that works; null: none is near. */
export function noticeOfStatus({ license, now }: DiagnosisFacts): Diagnosis | null {
  const end = usableUntil(license);
  if (end === null) return null;
  const left = countOf(daysBetween(now, end) + 1, 'day');
  if (licenseStatus(license, now) === 'past_due') {
    return {
      code: 'past_due',
      level: 'notice',
      sentence: `The renewal was not paid; the license still works for ${left}.`,
      advice: 'The customer updates the card in the portal of the payment provider.',
      actions: ['extend'],
    };
  }
  if (daysBetween(now, end) >= ENDS_SOON_DAYS) return null;
  const isLeaving = license.cancelScheduledFor !== null || license.canceledAt !== null;
  if (license.subscription && !isLeaving && license.pausedAt === null) return null;
  return {
    code: 'ends_soon',
    // The end of a trial is no surprise.
    level: license.trial ? 'ok' : 'notice',
    sentence: `The ${license.trial ? 'trial' : 'license'} works and ends in ${left}${isLeaving ? ', because the subscription was canceled' : ''}.`,
    advice: 'Extend it if the customer should keep it longer.',
    actions: ['extend'],
  };
}
