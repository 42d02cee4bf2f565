import type { Carrier } from '#server/db/batching/batcher.ts';

import type { BillingEvent } from './facts.ts';
import type { KeptEvent } from './queries/events.ts';

/** A verified delivery and what it means. */
export interface ReceivedEvent {
  readonly kept: KeptEvent;
  readonly event: BillingEvent;
}

/** What a sender is told of an event. */
export interface Receipt {
  readonly status: 'processed' | 'duplicate' | 'ignored' | 'deferred';
  readonly message: string | null;
}

/** Carries verified events to the database. */
export type WebhookBatch = Carrier<ReceivedEvent, Receipt>;
