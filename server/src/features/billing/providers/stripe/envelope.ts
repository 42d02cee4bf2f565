import { Type } from 'typebox';
import { Compile } from 'typebox/schema';

import { MalformedEventError, type PartialHeader } from '../adapter.ts';
import { readId, readName, readObject, readUnixSeconds, type JsonObject } from '../fields.ts';

/** The common fields of all events. */
export interface StripeEvent {
  readonly id: string;
  readonly type: string;
  /** Whole seconds. */
  readonly createdAt: Date;
  readonly object: JsonObject;
}

const Text = Type.String({ pattern: '^[!-~]{1,200}$' });
const Envelope = Compile(
  Type.Object({
    id: Text,
    type: Text,
    created: Type.Integer(),
    data: Type.Object({ object: Type.Record(Type.String(), Type.Unknown()) }),
  }),
);

/**
 * Reads the common fields.
 * @throws MalformedEventError if the body is not an event
 */
export function readEnvelope(body: unknown): StripeEvent {
  if (!Envelope.Check(body)) {
    throw new MalformedEventError(
      'an event needs id, type, created and data.object',
      readPartialHeader(body),
    );
  }
  const createdAt = readUnixSeconds(body.created);
  if (createdAt === null)
    throw new MalformedEventError('created is not a time', readPartialHeader(body));
  return { id: body.id, type: body.type, createdAt, object: body.data.object };
}

/**
 * Reads an id that the event's type requires.
 * @throws MalformedEventError if it is missing
 */
export function requireId({ id, type, createdAt, object }: StripeEvent, field: string): string {
  const value = readId(object[field]);
  if (value === null) {
    const head = { eventId: id, type, occurredAt: createdAt };
    throw new MalformedEventError(`${type} needs data.object.${field}`, head);
  }
  return value;
}

function readPartialHeader(body: unknown): PartialHeader {
  const { id, type, created } = readObject(body);
  return {
    eventId: readName(id),
    type: readName(type),
    occurredAt: readUnixSeconds(created),
  };
}
