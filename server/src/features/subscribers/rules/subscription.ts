import type { SUBSCRIBER_STATES } from '@latchkey/contract';

import type { ConfirmationFacts, ConfirmationMails, SubscriberFacts } from '../facts.ts';

export type SubscriberState = (typeof SUBSCRIBER_STATES)[number];

const STATE_BY_REASON: Readonly<Record<string, SubscriberState>> = {
  unsubscribed: 'unsubscribed',
  erased: 'erased',
  bounced: 'bounced',
  complained: 'complained',
};

type ConfirmationState = Pick<SubscriberFacts, 'confirmedAt' | 'suppression'>;

/** Derives the state of a subscriber; a suppression overrides all else. */
export function stateOf({ suppression, confirmedAt }: ConfirmationState): SubscriberState {
  if (suppression !== null) return STATE_BY_REASON[suppression.reason] ?? 'suppressed';
  return confirmedAt === null ? 'pending' : 'confirmed';
}

/** How long a confirmation link is valid. */
export const CONFIRMATION_HOURS = 48;

const PAUSE_MS = 5 * 60_000;

/** Prevents filling a mailbox whose address someone else enters. */
const MAX_MAILS_A_DAY = 3;

/** Counts the addresses of a mailbox together, because anyone can invent sub-addresses: `ada+1@example.com`. */
export const MAX_MAILS_OF_MAILBOX_A_DAY = 5;

/** Whether a confirmation e-mail is sent now, not at all, or later. */
export type MailDecision = 'send' | 'none' | { readonly notBefore: Date };

/** Determines whether a confirmation e-mail is sent after a subscription request. */
export function decideMail(
  facts: SubscriberFacts,
  mails: ConfirmationMails,
  now: Date,
): MailDecision {
  if (!mayBeAsked(facts)) return 'none';
  if (mails.today >= MAX_MAILS_A_DAY) return 'none';
  if (mails.last === null) return 'send';
  const next = new Date(mails.last.mailedAt.getTime() + PAUSE_MS);
  if (next <= now) return 'send';
  // The link of the last e-mail is sufficient, unless an unsubscription made it invalid.
  return mayConfirm(facts, mails.last.requestedAt) ? 'none' : { notBefore: next };
}

/** Whether a confirmation e-mail makes sense: the subscription is neither confirmed nor prevented by a suppression. */
export function mayBeAsked(facts: SubscriberFacts): boolean {
  return facts.email !== null && !isSubscribed(facts) && mayConfirm(facts, facts.subscribedAt);
}

/** Returns the seconds until an operator may send another confirmation e-mail; 0: now. */
export function secondsToNextMail({ today, last }: ConfirmationMails, now: Date): number {
  if (last === null) return 0;
  const pauseMs = today >= MAX_MAILS_A_DAY ? 24 * 60 * 60_000 : PAUSE_MS;
  return Math.max(0, Math.ceil((last.mailedAt.getTime() + pauseMs - now.getTime()) / 1000));
}

/**
 * The effect of the button of a confirmation link: it confirms; none, because the subscriber is confirmed (`already`);
 * or none, because the link expired or a later unsubscription or erasure made it invalid (`void`).
 */
export type ConfirmationDecision = 'confirm' | 'already' | 'void';

export function decideConfirmation(
  { requestedAt, expiresAt }: ConfirmationFacts,
  subscriber: SubscriberFacts | null,
  now: Date,
): ConfirmationDecision {
  if (subscriber === null || subscriber.email === null) return 'void';
  if (isSubscribed(subscriber)) return 'already';
  return mayConfirm(subscriber, requestedAt) && now < expiresAt ? 'confirm' : 'void';
}

function isSubscribed({ confirmedAt, suppression }: ConfirmationState): boolean {
  return confirmedAt !== null && suppression === null;
}

/** Whether a request can be confirmed: of all suppressions, only an unsubscription before the request can be lifted. */
function mayConfirm({ suppression }: ConfirmationState, requestedAt: Date): boolean {
  if (suppression === null) return true;
  return suppression.reason === 'unsubscribed' && suppression.suppressedAt < requestedAt;
}
