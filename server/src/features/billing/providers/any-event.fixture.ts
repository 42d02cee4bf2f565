/** Reads events with any values in their fields. */
import assert from 'node:assert/strict';

import * as fc from 'fast-check';

import { MalformedEventError } from './adapter.ts';

/** An event, and the field that contains its object. */
interface Sample {
  readonly event: object;
  readonly field: string;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Asserts that reading an event with spoiled fields, or any JSON, throws only {@link MalformedEventError}. */
export function throwsOnlyMalformed(
  samples: readonly Sample[],
  read: (event: unknown) => unknown,
): void {
  const names = new Set(samples.flatMap(({ object }) => Object.keys(object)));
  const spoiled = fc.record({
    sample: fc.constantFrom(...samples),
    fields: fc.dictionary(fc.constantFrom(...names), fc.jsonValue()),
  });
  const body = fc.oneof(
    fc.jsonValue(),
    spoiled.map(({ sample: { event, field, object }, fields }) => ({
      ...event,
      [field]: { ...object, ...fields },
    })),
  );
  fc.assert(
    fc.property(body, (drawn) => {
      try {
        read(drawn);
      } catch (error) {
        assert.ok(error instanceof MalformedEventError);
      }
    }),
    { numRuns: 500 },
  );
}
