import type { ConfirmationMails, SubscriberFacts } from '../facts.ts';

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
export function isSubscribed({
  confirmedAt,
  suppression,
}: Pick<SubscriberFacts, 'confirmedAt' | 'suppression'>): boolean {
  return confirmedAt !== null && suppression === null;
}

/**
 * Whether somebody who may have said that he wants no mail can be asked again. Only an unsubscription can be taken back so,
 * and only by what he asked for after it.
 */
export function mayAsk({ suppression }: Pick<SubscriberFacts, 'suppression'>, at: Date): boolean {
  if (suppression === null) return true;
  return suppression.reason === 'unsubscribed' && suppression.suppressedAt < at;
}
