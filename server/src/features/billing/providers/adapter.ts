import type { IncomingHttpHeaders } from 'node:http';

import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/schema';

import type { BillingEvent, BillingFact, BillingProvider, Occurrence } from '../facts.ts';

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

/** What an event comes to: facts, or the reason why nothing follows from it, a sentence for people. */
export type Reading = readonly BillingFact[] | string;

/** Puts an event's envelope and what it comes to together; undefined where its type is not read. */
export function toBillingEvent(
  envelope: Omit<BillingEvent, 'facts' | 'ignoredBecause'>,
  reading: Reading | undefined,
): BillingEvent {
  const found = reading ?? `No license depends on ${envelope.type}.`;
  return typeof found === 'string'
    ? { ...envelope, facts: [], ignoredBecause: found }
    : { ...envelope, facts: found, ignoredBecause: null };
}

/** What is known of an event before its data are read. */
interface EventHeader {
  readonly id: string;
  readonly type: string;
  readonly occurrence: Occurrence;
}

/**
 * Reads the data of an event.
 * @throws MalformedEventError for data that are not what the event's type promises; the message names the field
 */
export type DataReader<Result> = (data: unknown, header: EventHeader) => Result;

/** Declares how data of a shape are read. */
export function defineDataReader<Schema extends TSchema, Result>(
  schema: Schema,
  read: (data: Static<Schema>, occurrence: Occurrence) => Result,
): DataReader<Result> {
  const validator = Compile(schema);
  return (data, { id, type, occurrence }) => {
    if (validator.Check(data)) return read(data, occurrence);
    const [, [first]] = validator.Errors(data);
    const path = (first?.instancePath ?? '').replaceAll('/', '.');
    const missing = first?.keyword === 'required' ? first.params.requiredProperties[0] : undefined;
    const fault =
      missing === undefined ? `are wrong at data${path}` : `lack data${path}.${missing}`;
    const message = `The data of ${type} ${fault.slice(0, 200)}.`;
    throw new MalformedEventError(message, {
      eventId: id,
      type,
      occurredAt: occurrence.occurredAt,
    });
  };
}
