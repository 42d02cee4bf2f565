import type { IncomingHttpHeaders } from 'node:http';

import { toTestSource, type PaymentProvider } from '@latchkey/contract';
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/schema';

import type {
  BillingEvent,
  BillingFact,
  BillingProvider,
  EventHeader,
  Occurrence,
} from '../facts.ts';
import { readId, readObject, type JsonObject } from './fields.ts';

/** Verifies and interprets the webhooks of a provider. */
export interface BillingAdapter {
  readonly provider: BillingProvider;
  /** Verifies the signature of a delivery. */
  readonly verify: (delivery: WebhookDelivery, options: VerifyOptions) => Verification;
  /**
   * Lists the events of a delivery, which may contain several; null for another body. Absent: the body is the event.
   * @param receivedAt for events that contain no time
   */
  readonly split?: (body: object, receivedAt: Date) => readonly unknown[] | null;
  /**
   * Translates a verified body into facts. Never throws for an unknown type or value: such an event is ignored, with
   * the reason.
   * @throws MalformedEventError if the body has no id, no type or does not match its type
   */
  readonly normalize: (body: unknown, delivery: WebhookDelivery) => BillingEvent;
}

/** The headers and body of a request. */
export interface WebhookDelivery {
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
  /** The secret in the address, of a provider that does not sign. */
  readonly addressSecret?: string;
}

export interface VerifyOptions {
  /** The current signing secrets, at least one. */
  readonly secrets: readonly string[];
  readonly now: Date;
  /** The maximum difference between the signed time and now, before or after. */
  readonly toleranceSeconds: number;
}

/** `stale`: the signature is valid, but not its time. */
export type Verification = 'valid' | 'missing' | 'malformed' | 'mismatch' | 'stale';

/** The readable part of a malformed event's header; null for fields that cannot be read. */
interface PartialHeader {
  /** Undefined: that of the adapter. */
  readonly provider?: BillingProvider;
  readonly eventId: string | null;
  readonly type: string | null;
  readonly occurredAt: Date | null;
}

const UNREADABLE: PartialHeader = { eventId: null, type: null, occurredAt: null };

/** A signed body that is not an event or does not match its type. */
export class MalformedEventError extends Error {
  readonly header: PartialHeader;

  constructor(message: string, header: PartialHeader = UNREADABLE) {
    super(message);
    this.name = 'MalformedEventError';
    const { provider, eventId, type, occurredAt } = header;
    this.header = { ...(provider === undefined ? {} : { provider }), eventId, type, occurredAt };
  }
}

/** An event in the form of its provider. */
export interface ProviderEvent<Data = JsonObject> extends EventHeader {
  readonly occurrence: Occurrence;
  readonly data: Data;
}

/** The facts of an event, or the reason why it has no effect: a sentence for people. With both, it changes no license. */
export type Interpretation =
  | readonly BillingFact[]
  | string
  | Pick<BillingEvent, 'facts' | 'ignoredBecause'>;

/** The parts of a body; null, or undefined for the data, if they are missing or invalid. */
interface EventParts<Data> {
  readonly eventId: string | null;
  readonly type: string | null;
  readonly occurrence: Occurrence | null;
  readonly data: Data | undefined;
  /** Whether the provider marks the event as one of its test mode. Absent: it does not mark them. */
  readonly isTest?: boolean;
}

const PARTS = ['eventId', 'type', 'occurrence', 'data'] as const;

/** The format of a provider's events. */
interface ProviderFormat<Data> extends Pick<BillingAdapter, 'verify' | 'split'> {
  readonly provider: PaymentProvider;
  /** Whether the facts of a type must be looked up at the provider. Absent: none. */
  readonly requiresLookUp?: (type: string) => boolean;
  /** The names of the parts, for the error about a missing one. */
  readonly fields: Readonly<Record<(typeof PARTS)[number], string>>;
  readonly read: (body: JsonObject, delivery: WebhookDelivery) => EventParts<Data>;
  /** Returns undefined for an unknown type. */
  readonly interpret: (event: ProviderEvent<Data>) => Interpretation | undefined;
}

export function defineAdapter<Data>(format: ProviderFormat<Data>): BillingAdapter {
  const { fields, read, interpret, requiresLookUp, ...adapter } = format;
  return {
    ...adapter,
    normalize: (body, delivery) => {
      const parts = read(readObject(body), delivery);
      const provider = parts.isTest === true ? toTestSource(format.provider) : format.provider;
      const { eventId, type, occurrence, data } = parts;
      const occurredAt = occurrence?.occurredAt ?? null;
      if (eventId === null || type === null || occurrence === null || data === undefined) {
        const missing = PARTS.filter((part) => parts[part] == null).map((part) => fields[part]);
        const message = `Missing or invalid: ${missing.join(', ')}.`;
        throw new MalformedEventError(message, { provider, eventId, type, occurredAt });
      }
      const header = { provider, eventId, type, occurredAt: occurrence.occurredAt };
      const result = interpret({ ...header, occurrence, data }) ?? `No license depends on ${type}.`;
      const found = toFacts(result);
      const isQuestion = found.ignoredBecause === null && requiresLookUp?.(type) === true;
      return { ...header, ...found, ...(isQuestion ? { requiresLookUp: true } : {}) };
    },
  };
}

function toFacts(result: Interpretation): Pick<BillingEvent, 'facts' | 'ignoredBecause'> {
  if (typeof result === 'string') return { facts: [], ignoredBecause: result };
  return 'facts' in result ? result : { facts: result, ignoredBecause: null };
}

/** Returns an adapter whose events are all of the provider's test mode. */
export function toTestAdapter(adapter: BillingAdapter): BillingAdapter {
  const provider = toTestSource(adapter.provider);
  return {
    ...adapter,
    provider,
    normalize: (body, delivery) => ({ ...adapter.normalize(body, delivery), provider }),
  };
}

/**
 * Reads an id that the event's type requires.
 * @throws MalformedEventError if it is missing
 */
export function requireId(event: ProviderEvent, field: string): string {
  const value = readId(event.data[field]);
  if (value === null)
    throw new MalformedEventError(`The data of ${event.type} lack ${field}.`, event);
  return value;
}

/**
 * Interprets an event.
 * @throws MalformedEventError if the data do not match the type; the message names the field
 */
export type DataReader = (event: ProviderEvent<unknown>) => Interpretation;

/** Creates a reader that validates data against a schema. */
export function defineDataReader<Schema extends TSchema>(
  schema: Schema,
  interpret: (data: Static<Schema>, event: ProviderEvent<unknown>) => Interpretation,
): DataReader {
  const validator = Compile(schema);
  return (event) => {
    const { data, type } = event;
    if (validator.Check(data)) return interpret(data, event);
    const [, [first]] = validator.Errors(data);
    const path = (first?.instancePath ?? '').replaceAll('/', '.');
    const missing = first?.keyword === 'required' ? first.params.requiredProperties[0] : undefined;
    const problem =
      missing === undefined ? `are wrong at data${path}` : `lack data${path}.${missing}`;
    throw new MalformedEventError(`The data of ${type} ${problem.slice(0, 200)}.`, event);
  };
}
