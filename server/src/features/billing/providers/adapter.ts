import type { IncomingHttpHeaders } from 'node:http';

import type { BillingEvent, BillingProvider } from '../facts.ts';

/** What a provider's webhooks are understood by. */
export interface BillingAdapter {
  readonly provider: BillingProvider;
  /** Says whether a delivery comes from the provider. */
  readonly verify: (delivery: WebhookDelivery, options: VerifyOptions) => Verification;
  /**
   * Says what a verified body means. Never throws for a type or value that is not known: such an event is ignored, with
   * the reason.
   * @throws MalformedEventError for a body that has no id, no type or not the shape that its type promises
   */
  readonly normalize: (body: unknown, delivery: WebhookDelivery) => BillingEvent;
}

/** A request as it came. */
export interface WebhookDelivery {
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
}

export interface VerifyOptions {
  /** Every secret that may sign now; never empty. */
  readonly secrets: readonly string[];
  readonly now: Date;
  /** How far the signed time may be from now, on either side. */
  readonly toleranceSeconds: number;
}

/** `stale` is well signed, but at another time than now. */
export type Verification =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'missing' | 'malformed' | 'mismatch' | 'stale' };

/** What could be read of an event all the same; null: not that. */
export interface EventHead {
  /** The event is kept under it. */
  readonly eventId: string | null;
  readonly type: string | null;
  readonly occurredAt: Date | null;
}

/** A body that a provider signed and that does not say what its type promises. */
export class MalformedEventError extends Error implements EventHead {
  readonly eventId: string | null;
  readonly type: string | null;
  readonly occurredAt: Date | null;

  constructor(
    message: string,
    { eventId = null, type = null, occurredAt = null }: Partial<EventHead> = {},
  ) {
    super(message);
    this.name = 'MalformedEventError';
    this.eventId = eventId;
    this.type = type;
    this.occurredAt = occurredAt;
  }
}
