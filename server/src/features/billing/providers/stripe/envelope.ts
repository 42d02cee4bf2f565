import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { MalformedEventError } from '../adapter.ts';
import { readId, readUnixSeconds, type JsonObject } from '../json-fields.ts';

/** What every event of Stripe's has. */
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
 * Reads the envelope.
 * @throws MalformedEventError for what is no event of Stripe's
 */
export function readEnvelope(body: unknown): StripeEvent {
  if (!Envelope.Check(body)) {
    throw new MalformedEventError('an event needs id, type, created and data.object', findId(body));
  }
  const createdAt = readUnixSeconds(body.created);
  if (createdAt === null) throw new MalformedEventError('created is no time', body.id);
  return { id: body.id, type: body.type, createdAt, object: body.data.object };
}

/**
 * Reads an id that the event's type promises.
 * @throws MalformedEventError when it is not there
 */
export function requireId({ id, type, object }: StripeEvent, field: string): string {
  const value = readId(object[field]);
  if (value === null) throw new MalformedEventError(`${type} needs data.object.${field}`, id);
  return value;
}

const Identified = Compile(Type.Object({ id: Text }));

function findId(body: unknown): string | null {
  return Identified.Check(body) ? body.id : null;
}
