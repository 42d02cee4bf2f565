import type { SubscriberFacts } from '../facts.ts';

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
