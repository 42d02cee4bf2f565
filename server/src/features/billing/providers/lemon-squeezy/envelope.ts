import { createHash } from 'node:crypto';

import { Type } from 'typebox';
import { Compile } from 'typebox/schema';

import type { CustomerDetails, Occurrence } from '../../facts.ts';
import { MalformedEventError } from '../adapter.ts';
import {
  readEmail,
  readId,
  readName,
  readObject,
  readOccurrence,
  readText,
  type JsonObject,
} from '../fields.ts';

/** The common fields of all events: the name and the object (JSON:API). */
export interface LemonSqueezyEvent {
  readonly eventId: string;
  readonly name: string;
  readonly objectId: string;
  readonly attributes: JsonObject;
  readonly occurrence: Occurrence;
}

const Text = Type.String({ pattern: '^[!-~]{1,200}$' });
const Envelope = Compile(
  Type.Object({
    meta: Type.Object({ event_name: Text }),
    data: Type.Object({
      id: Type.Union([Text, Type.Integer()]),
      attributes: Type.Record(Type.String(), Type.Unknown()),
    }),
  }),
);

/**
 * Reads the common fields. Events of Lemon Squeezy have no id; the SHA-256 of the body, which is the same at each delivery,
 * is used instead.
 * @throws MalformedEventError if the body is not an event
 */
export function readEnvelope(body: unknown, rawBody: Buffer): LemonSqueezyEvent {
  const eventId = createHash('sha256').update(rawBody).digest('hex');
  if (!Envelope.Check(body)) {
    const message = 'an event needs meta.event_name, data.id and data.attributes';
    throw new MalformedEventError(message, { eventId, ...readNameAndTime(body) });
  }
  const { attributes, id } = body.data;
  const name = body.meta.event_name;
  const occurrence = findOccurrence(attributes);
  if (occurrence === null) {
    const message = 'data.attributes.updated_at is not a time';
    throw new MalformedEventError(message, { eventId, type: name });
  }
  return { eventId, name, objectId: String(id), attributes, occurrence };
}

function readNameAndTime(body: unknown): { type: string | null; occurredAt: Date | null } {
  const { meta, data } = readObject(body);
  return {
    type: readName(readObject(meta)['event_name']),
    occurredAt: findOccurrence(readObject(readObject(data)['attributes']))?.occurredAt ?? null,
  };
}

function findOccurrence(attributes: JsonObject): Occurrence | null {
  return readOccurrence(attributes['updated_at']) ?? readOccurrence(attributes['created_at']);
}

/**
 * Reads an id that the event's name requires.
 * @throws MalformedEventError if it is missing
 */
export function requireAttribute(event: LemonSqueezyEvent, field: string): string {
  const value = readId(event.attributes[field]);
  if (value === null) {
    const { eventId, name: type, occurrence } = event;
    const { occurredAt } = occurrence;
    const message = `${type} needs data.attributes.${field}`;
    throw new MalformedEventError(message, { eventId, type, occurredAt });
  }
  return value;
}

/** Reads the buyer from any object. */
export function readBuyer(attributes: JsonObject): CustomerDetails {
  return {
    email: readEmail(attributes['user_email']),
    name: readText(attributes['user_name']),
    locale: null,
  };
}

/** Creates a unique id of an object: Lemon Squeezy numbers each kind separately. */
export function qualifyId(kind: 'order' | 'invoice' | 'subscription', id: string): string {
  return `${kind}:${id}`;
}
