import type { SubscriberFacts, ConfirmationMails, ConfirmationFacts } from '../facts.ts';

/** Where a subscription stands. `erased` is one whose address is no longer known. */
export const SUBSCRIBER_STATES = [
  'pending',
  'confirmed',
  'unsubscribed',
  'suppressed',
  'bounced',
  'complained',
  'erased',
] as const;

export type SubscriberState = (typeof SUBSCRIBER_STATES)[number];

const BY_REASON: Readonly<Record<string, SubscriberState>> = {
  unsubscribed: 'unsubscribed',
  erased: 'erased',
  bounced: 'bounced',
  complained: 'complained',
};

/** The state that the facts make: whatever else is known, no mail is no mail. */
export function stateOf({
  suppression,
  confirmedAt,
}: Pick<SubscriberFacts, 'suppression' | 'confirmedAt'>): SubscriberState {
  if (suppression !== null) return BY_REASON[suppression.reason] ?? 'suppressed';
  return confirmedAt === null ? 'pending' : 'confirmed';
}

/** How long the link in a mail works. */
export const CONFIRMATION_HOURS = 48;

const MINUTE_MS = 60_000;
const PAUSE_MS = 5 * MINUTE_MS;

/** Whoever types an address that is not his must not fill its mailbox. */
const MAX_MAILS_A_DAY = 3;

/** Whether a confirmation is asked for now, later, or not at all. */
export type MailDecision = 'send' | 'none' | { readonly notBefore: Date };

/** Decides whether somebody who asked for news is sent the mail that asks for a confirmation. */
export function decideMail(
  facts: SubscriberFacts,
  mails: ConfirmationMails,
  now: Date,
): MailDecision {
  if (facts.email === null || isSubscribed(facts) || !mayAsk(facts, facts.subscribedAt)) {
    return 'none';
  }
  if (mails.today >= MAX_MAILS_A_DAY) return 'none';
  if (mails.last === null) return 'send';
  const next = new Date(mails.last.mailedAt.getTime() + PAUSE_MS);
  if (next <= now) return 'send';
  // The link of the last mail does what he asks for, unless he unsubscribed in between.
  return mayAsk(facts, mails.last.requestedAt) ? 'none' : { notBefore: next };
}

/** Whether news are sent to him. */
function isSubscribed({
  confirmedAt,
  suppression,
}: Pick<SubscriberFacts, 'confirmedAt' | 'suppression'>): boolean {
  return confirmedAt !== null && suppression === null;
}

/**
 * Whether somebody who may have said that he wants no mail can be asked again. Only an unsubscription can be taken back so,
 * and only by what he asked for after it.
 */
function mayAsk({ suppression }: Pick<SubscriberFacts, 'suppression'>, at: Date): boolean {
  if (suppression === null) return true;
  return suppression.reason === 'unsubscribed' && suppression.suppressedAt < at;
}

/**
 * What pressing the button of a link does: `confirm`, nothing any more (`already`), or nothing at all (`void`): the link
 * is too old, or was overtaken by what its owner said since.
 */
export type ConfirmationDecision = 'confirm' | 'already' | 'void';

/** Decides what a link of a mail stands for now. */
export function decideConfirmation(
  { requestedAt, expiresAt }: ConfirmationFacts,
  subscriber: SubscriberFacts | null,
  now: Date,
): ConfirmationDecision {
  if (subscriber === null || subscriber.email === null) return 'void';
  if (isSubscribed(subscriber)) return 'already';
  return mayAsk(subscriber, requestedAt) && now < expiresAt ? 'confirm' : 'void';
}
