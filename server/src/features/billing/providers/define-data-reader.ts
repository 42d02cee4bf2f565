import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/schema';

import type { Occurrence } from '../facts.ts';
import { MalformedEventError } from './adapter.ts';

/** What is known of an event before its data are read. */
export interface EventHeader {
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
