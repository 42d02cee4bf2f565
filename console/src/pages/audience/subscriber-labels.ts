import type { AdminSubscriber, AdminSuppression } from '@latchkey/contract';

import { serviceNowMs } from '#console/app/service-clock.ts';
import type { Tone } from '#console/ui/badge.tsx';

type State = AdminSubscriber['state'];

interface StateWords {
  readonly label: string;
  readonly tone: Tone;
  /** What it means, in a sentence. */
  readonly meaning: string;
}

export const STATES: Readonly<Record<State, StateWords>> = {
  confirmed: {
    label: 'Confirmed',
    tone: 'good',
    meaning: 'Receives the newsletter.',
  },
  pending: {
    label: 'Pending',
    tone: 'warning',
    meaning: 'Receives nothing until the address is confirmed by the link in the e-mail.',
  },
  unsubscribed: {
    label: 'Unsubscribed',
    tone: 'muted',
    meaning: 'Receives no newsletter and no outreach, and can subscribe again.',
  },
  suppressed: {
    label: 'Suppressed',
    tone: 'muted',
    meaning: 'Receives no newsletter and no outreach until an operator allows it.',
  },
  bounced: {
    label: 'Bounced',
    tone: 'bad',
    meaning: 'Receives nothing: mail to the address came back.',
  },
  complained: {
    label: 'Complained',
    tone: 'bad',
    meaning: 'Receives nothing: the owner reported a mail as spam.',
  },
  erased: {
    label: 'Erased',
    tone: 'muted',
    meaning: 'The address is not stored, and receives nothing.',
  },
};

export const STATE_OPTIONS = Object.entries(STATES).map(([value, { label }]) => ({ value, label }));

/** Why an address is suppressed. */
export const REASONS: Readonly<Record<AdminSuppression['reason'], string>> = {
  unsubscribed: 'Unsubscribed',
  by_hand: 'By an operator',
  erased: 'Erased',
  bounced: 'Bounced',
  complained: 'Complained',
};

const CHANGES: Readonly<Record<string, string>> = {
  'suppression.add': 'Suppressed',
  'suppression.remove': 'Mail allowed again',
  'subscriber.unsubscribe': 'Unsubscribed by an operator',
  'subscriber.resend_confirmation': 'Confirmation e-mail sent again',
  'subscriber.erase': 'Erased',
};

/** Describes an action of the audit log. */
export function describeChange(action: string): string {
  return CHANGES[action] ?? action;
}

/** Returns midnight some days ago, in UTC, for filters that stay the same for a day. */
export function daysAgo(days: number): string {
  const today = new Date(serviceNowMs());
  today.setUTCHours(0, 0, 0, 0);
  return new Date(today.getTime() - days * 86_400_000).toISOString();
}
