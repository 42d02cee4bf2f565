import type { BillingEvent } from './facts.ts';
import type { StoredDelivery } from './queries/events.ts';

/** An event of a verified delivery. */
export type ReceivedEvent = BillingEvent & StoredDelivery;

/** The response to the sender of an event. */
export interface Receipt {
  readonly status: 'processed' | 'duplicate' | 'ignored' | 'deferred';
  readonly message: string | null;
}

/** The receipt of an event that is already stored. */
export const DUPLICATE: Receipt = { status: 'duplicate', message: null };
