import type { SubscriberFacts } from '#server/features/subscribers/facts.ts';
import { stateOf } from '#server/features/subscribers/rules/subscription.ts';
import type { Columns } from '../export/rows.ts';

/** What is shown of a subscriber, in tables, JSON and exports alike. */
export const subscriberColumns = {
  id: (subscriber) => subscriber.id,
  email: (subscriber) => subscriber.email,
  state: (subscriber) => stateOf(subscriber),
  language: (subscriber) => subscriber.language,
  first_subscribed_at: (subscriber) => subscriber.firstSubscribedAt,
  subscribed_at: (subscriber) => subscriber.subscribedAt,
  confirmed_at: (subscriber) => subscriber.confirmedAt,
  opt_in: (subscriber) => subscriber.optIn,
  suppressed_at: (subscriber) => subscriber.suppression?.suppressedAt ?? null,
  confirmation_mailed_at: (subscriber) => subscriber.confirmationMailedAt,
  confirmation_problem: (subscriber) => subscriber.confirmationProblem,
} satisfies Columns<SubscriberFacts>;

/** A subscriber as programs are told. */
export function toSubscriberJson(subscriber: SubscriberFacts) {
  const cells = Object.entries(subscriberColumns).map(([name, read]) => [name, read(subscriber)]);
  return Object.fromEntries(cells);
}
