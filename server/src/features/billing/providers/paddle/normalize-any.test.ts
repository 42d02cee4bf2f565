import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import {
  paddleAdjustment,
  paddleCustomer,
  paddleSubscription,
  paddleTransactionCompleted,
} from '../../../../../test/payment-providers/paddle-events.ts';
import { MalformedEventError } from '../adapter.ts';
import { normalizePaddle } from './read-event.fixture.ts';

const SAMPLES: readonly unknown[] = [
  paddleTransactionCompleted(),
  paddleSubscription('created'),
  paddleSubscription('canceled', {
    scheduledChange: { action: 'cancel', effectiveAt: new Date(0) },
  }),
  paddleAdjustment('created'),
  paddleCustomer('updated'),
].map((event) => JSON.parse(JSON.stringify(event)) as unknown);

type Path = readonly (string | number)[];

/** Lists the paths of all nested values. */
function listPaths(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return keys.flatMap((key) => {
    const inner: unknown = Reflect.get(value, key);
    return [[...path, key], ...listPaths(inner, [...path, key])];
  });
}

/** Copies a value with one nested value replaced; `undefined` removes it. */
function change(value: unknown, path: Path, replacement: unknown): unknown {
  const copy: unknown = structuredClone(value);
  let place: unknown = copy;
  for (const key of path.slice(0, -1)) {
    assert.ok(typeof place === 'object' && place !== null);
    place = Reflect.get(place, key);
  }
  const last = path.at(-1);
  assert.ok(typeof place === 'object' && place !== null && last !== undefined);
  if (replacement !== undefined) Reflect.set(place, last, replacement);
  else if (Array.isArray(place)) place.splice(Number(last), 1);
  else Reflect.deleteProperty(place, last);
  return copy;
}

function normalizeOrRefuse(body: unknown): 'event' | 'malformed' {
  try {
    const { eventId, facts, ignoredBecause } = normalizePaddle(body);
    assert.ok(eventId.length >= 1 && eventId.length <= 200);
    assert.equal(facts.length === 0, ignoredBecause !== null);
    return 'event';
  } catch (error) {
    assert.ok(error instanceof MalformedEventError, String(error));
    return 'malformed';
  }
}

test('returns an event or throws MalformedEventError for any JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (body) => {
      normalizeOrRefuse(body);
    }),
    { numRuns: 1_000 },
  );
});

test('returns an event or throws MalformedEventError for any value in any field', () => {
  const sample = fc.constantFrom(...SAMPLES);
  const changed = sample.chain((event) =>
    fc.record({
      event: fc.constant(event),
      path: fc.constantFrom(...listPaths(event)),
      replacement: fc.option(fc.jsonValue(), { nil: undefined }),
    }),
  );
  const seen = new Set<string>();
  fc.assert(
    fc.property(changed, ({ event, path, replacement }) => {
      seen.add(normalizeOrRefuse(change(event, path, replacement)));
    }),
    { numRuns: 2_000 },
  );
  assert.deepEqual(seen, new Set(['event', 'malformed']));
});

test('accepts any value in a field that is not read', () => {
  for (const event of SAMPLES) {
    for (const [first, ...rest] of listPaths(event)) {
      if (first === undefined || rest.at(-1) !== 'created_at') continue;
      assert.equal(normalizeOrRefuse(change(event, [first, ...rest], { any: [1] })), 'event');
    }
  }
});
