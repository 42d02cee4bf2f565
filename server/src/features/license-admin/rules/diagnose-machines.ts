import { countOf } from '#server/lib/text.ts';

import type { Diagnosis, DiagnosisFacts } from './diagnosis.ts';
import { daysBetween, formatDay } from './wording.ts';

/** Diagnoses a license that works and whose computers are silent; null: they are not. */
export function diagnoseMachines(facts: DiagnosisFacts): Diagnosis | null {
  const { machines } = facts;
  if (machines.everActivated === 0) return diagnoseKeyEmail(facts) ?? neverActivated(facts);
  return diagnoseReplacedKey(facts) ?? diagnoseAbsence(facts) ?? diagnoseSilence(facts);
}

function diagnoseKeyEmail({ keyEmail, license }: DiagnosisFacts): Diagnosis | null {
  if (keyEmail === null || keyEmail.state === 'sent' || keyEmail.state === 'sending') return null;
  if (license.customerEmail === null) {
    return {
      code: 'no_address',
      level: 'problem',
      sentence:
        'The customer has no key: the payment provider did not report an e-mail address, so that the key was not sent.',
      advice: 'Enter the address of the customer; then send the key.',
      actions: ['change_owner', 'resend'],
    };
  }
  return {
    code: 'key_not_sent',
    level: 'problem',
    sentence: `The customer has no key: the e-mail with it ${EMAIL_FAILURES[keyEmail.state] ?? 'was not sent'}.`,
    advice: 'Check the address of the customer, and send the key again.',
    actions: ['resend', 'change_owner'],
  };
}

const EMAIL_FAILURES: Readonly<Record<string, string>> = {
  refused: 'was refused by the mail server',
  waiting: 'waits to be sent',
  withheld: 'was withheld while the license was not valid',
};

function neverActivated({ license, now, keyReplacedAt }: DiagnosisFacts): Diagnosis {
  const { customerEmail } = license;
  const replaced =
    keyReplacedAt === null ? '' : `; its key was replaced ${formatDay(keyReplacedAt, now)}`;
  return {
    code: 'never_activated',
    level: 'notice',
    sentence: `No computer ever used this license${replaced}.`,
    advice:
      customerEmail === null
        ? 'If the customer says that it fails, the key has a typo: reveal it and compare.'
        : 'If the customer says that it fails, the key has a typo or did not arrive: send it again.',
    actions: ['resend'],
  };
}

/** The key was replaced, and no computer validated with the new one. */
function diagnoseReplacedKey({ keyReplacedAt, machines, now }: DiagnosisFacts): Diagnosis | null {
  if (keyReplacedAt === null) return null;
  if (machines.lastSeenAt !== null && machines.lastSeenAt >= keyReplacedAt) return null;
  return {
    code: 'key_replaced',
    level: 'problem',
    sentence: `The key was replaced ${formatDay(keyReplacedAt, now)}, and no computer has used the new one; the old key is unknown.`,
    advice: 'The customer enters the new key. Send it again if it did not arrive.',
    actions: ['resend'],
  };
}

function diagnoseAbsence({ machines, now }: DiagnosisFacts): Diagnosis | null {
  const { active, lastSeenAt } = machines;
  if (active > 0) return null;
  const seen = lastSeenAt === null ? '' : `; the last one was seen ${formatDay(lastSeenAt, now)}`;
  return {
    code: 'no_machine',
    level: 'notice',
    sentence: `The license is usable and active on no computer${seen}.`,
    advice: 'The customer enters the key on a computer, which activates it.',
    actions: ['resend'],
  };
}

/** Tokens have expired: the software stops on these computers until they reach the service. */
function diagnoseSilence({ machines, now }: DiagnosisFacts): Diagnosis | null {
  const { active, overdue, offlineDays, lastSeenAt } = machines;
  if (overdue === 0) return null;
  if (overdue < active) {
    return {
      code: 'some_offline',
      level: 'notice',
      sentence: `The license works, but ${countOf(overdue, 'computer')} of ${active} did not reach the service for more than ${offlineDays} days, and must before the software runs there again.`,
      advice:
        'If the customer asks about that computer: it needs an internet connection, and its firewall must let the software through.',
      actions: ['free_machine'],
    };
  }
  const days = lastSeenAt === null ? offlineDays : daysBetween(lastSeenAt, now);
  return {
    code: 'offline',
    level: 'problem',
    sentence: `No computer reached the service for ${countOf(days, 'day')}; the software runs for ${offlineDays} days without it.`,
    advice:
      'The computer needs an internet connection; a firewall or proxy may block the software. If it is no longer used, free it.',
    actions: ['free_machine'],
  };
}
