import type { IncomingHttpHeaders } from 'node:http';

import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/schema';

import type {
  BillingEvent,
  BillingFact,
  BillingProvider,
  EventHeader,
  Occurrence,
} from '../facts.ts';

/** Verifies and interprets the webhooks of a provider. */
export interface BillingAdapter {
  readonly provider: BillingProvider;
  /** Verifies the signature of a delivery. */
  readonly verify: (delivery: WebhookDelivery, options: VerifyOptions) => Verification;
  /**
   * Translates a verified body into facts. Never throws for an unknown type or value: such an event is ignored, with the
   * reason.
   * @throws MalformedEventError if the body has no id, no type or does not match its type
   */
  readonly normalize: (body: unknown, delivery: WebhookDelivery) => BillingEvent;
}

/** The headers and body of a request. */
export interface WebhookDelivery {
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
}

export interface VerifyOptions {
  /** The current signing secrets, at least one. */
  readonly secrets: readonly string[];
  readonly now: Date;
  /** The maximum difference between the signed time and now, before or after. */
  readonly toleranceSeconds: number;
}

/** `stale`: the signature is valid, but not its time. */
export type Verification =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'missing' | 'malformed' | 'mismatch' | 'stale' };

/** The readable part of a malformed event's header; null for fields that cannot be read. */
export interface PartialHeader {
  readonly eventId: string | null;
  readonly type: string | null;
  readonly occurredAt: Date | null;
}

/** A signed body that is not an event or does not match its type. */
export class MalformedEventError extends Error implements PartialHeader {
  readonly eventId: string | null;
  readonly type: string | null;
  readonly occurredAt: Date | null;

  constructor(
    message: string,
    { eventId = null, type = null, occurredAt = null }: Partial<PartialHeader> = {},
  ) {
    super(message);
    this.name = 'MalformedEventError';
    this.eventId = eventId;
    this.type = type;
    this.occurredAt = occurredAt;
  }
}

/** The facts of an event, or the reason why it has no effect: a sentence for people. */
export type Interpretation = readonly BillingFact[] | string;

/** Combines the header of an event with its interpretation; undefined for an unknown type. */
export function toBillingEvent(
  header: EventHeader,
  interpretation: Interpretation | undefined,
): BillingEvent {
  const result = interpretation ?? `No license depends on ${header.type}.`;
  return typeof result === 'string'
    ? { ...header, facts: [], ignoredBecause: result }
    : { ...header, facts: result, ignoredBecause: null };
}

/**
 * Interprets the data of an event.
 * @throws MalformedEventError if the data do not match the type; the message names the field
 */
export type DataReader = (
  data: unknown,
  header: EventHeader,
  occurrence: Occurrence,
) => Interpretation;

/** Creates a reader that validates data against a schema. */
export function defineDataReader<Schema extends TSchema>(
  schema: Schema,
  interpret: (data: Static<Schema>, occurrence: Occurrence) => Interpretation,
): DataReader {
  const validator = Compile(schema);
  return (data, { eventId, type, occurredAt }, occurrence) => {
    if (validator.Check(data)) return interpret(data, occurrence);
    const [, [first]] = validator.Errors(data);
    const path = (first?.instancePath ?? '').replaceAll('/', '.');
    const missing = first?.keyword === 'required' ? first.params.requiredProperties[0] : undefined;
    const problem =
      missing === undefined ? `are wrong at data${path}` : `lack data${path}.${missing}`;
    const message = `The data of ${type} ${problem.slice(0, 200)}.`;
    throw new MalformedEventError(message, { eventId, type, occurredAt });
  };
}
