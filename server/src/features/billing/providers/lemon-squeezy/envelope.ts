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

/** What every event of Lemon Squeezy's has: the event's name, and the object that it is about (JSON:API). */
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
 * Reads the envelope. Lemon Squeezy gives its events no id: the SHA-256 of the body, which is the same at each delivery,
 * stands for it.
 * @throws MalformedEventError for what is no event of Lemon Squeezy's
 */
export function readEnvelope(body: unknown, rawBody: Buffer): LemonSqueezyEvent {
  const eventId = createHash('sha256').update(rawBody).digest('hex');
  if (!Envelope.Check(body)) {
    const needed = 'an event needs meta.event_name, data.id and data.attributes';
    throw new MalformedEventError(needed, { eventId, ...readNameAndTime(body) });
  }
  const { attributes, id } = body.data;
  const name = body.meta.event_name;
  const occurrence = findOccurrence(attributes);
  if (occurrence === null) {
    const message = 'data.attributes.updated_at is no time';
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
 * Reads an id that the event's name promises.
 * @throws MalformedEventError when it is not there
 */
export function requireAttribute(event: LemonSqueezyEvent, field: string): string {
  const value = readId(event.attributes[field]);
  if (value === null) {
    const { eventId, name: type, occurrence } = event;
    const message = `${type} needs data.attributes.${field}`;
    throw new MalformedEventError(message, {
      eventId,
      type,
      occurredAt: occurrence.occurredAt,
    });
  }
  return value;
}

/** Reads who bought; the address is in each object. */
export function readBuyer(attributes: JsonObject): CustomerDetails {
  return {
    email: readEmail(attributes['user_email']),
    name: readText(attributes['user_name']),
    locale: null,
  };
}

/**
 * Names an object other than a checkout. Lemon Squeezy counts each kind of object on its own, so the bare numbers of an
 * order and an invoice may be the same.
 */
export function nameObject(kind: 'order' | 'invoice' | 'subscription', id: string): string {
  return `${kind}:${id}`;
}
