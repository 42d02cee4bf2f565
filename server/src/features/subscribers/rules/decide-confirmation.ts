import type { ConfirmationFacts, SubscriberFacts } from '../facts.ts';
import { isSubscribed, mayAsk } from './decide-mail.ts';

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
