import type { WebhookResponse } from '@latchkey/contract';

import type { BillingDependencies } from './dependencies.ts';
import type { Receipt } from './received-event.ts';

/** The response to one event of a delivery. */
export type EventResponse = Receipt & { readonly event_id: string };

/** The events of a delivery that were received, while others failed: the provider must send only those again. */
export interface PartialReceipt {
  readonly finishedIds: readonly string[];
}

/** The events of a delivery that are received at once; the provider sends the others again. */
const MAX_EVENTS = 200;

/**
 * Receives the events of a delivery together, so that they share a transaction of the batch.
 * @param receive stores and applies an event
 * @throws the first error if no event was received
 */
export async function receiveEvents(
  { log }: Pick<BillingDependencies, 'log'>,
  provider: string,
  events: readonly unknown[],
  receive: (event: unknown) => Promise<EventResponse>,
): Promise<WebhookResponse | PartialReceipt> {
  const settled = await Promise.allSettled(events.slice(0, MAX_EVENTS).map(receive));
  const received = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  if (received.length === events.length) return summarize(received);
  const failure = settled.find((each) => each.status === 'rejected');
  if (received.length === 0) throw failure?.reason;
  const counts = { received: received.length, failed: events.length - received.length };
  log.warn(
    { event: 'payments.delivery_incomplete', provider, ...counts, err: failure?.reason },
    'could not receive all events of a payment webhook',
  );
  return { finishedIds: received.map(({ event_id: eventId }) => eventId) };
}

function summarize(received: readonly EventResponse[]): WebhookResponse {
  const [first, ...others] = received;
  if (first === undefined) {
    return { status: 'ignored', message: 'The delivery contains no events.', event_id: null };
  }
  if (others.length === 0) return first;
  const isSame = others.every(({ status }) => status === first.status);
  const status = isSame ? first.status : 'processed';
  return { status, message: null, event_id: null, events: [...received] };
}
