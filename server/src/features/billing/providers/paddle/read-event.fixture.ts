import assert from 'node:assert/strict';

import { paddleId, type PaddleEvent } from '../../../../../test/payment-providers/paddle-events.ts';
import type { BillingEvent, BillingFact } from '../../facts.ts';
import { paddleAdapter } from './adapter.ts';

export const AT = new Date('2027-03-01T12:00:00.000Z');
export const MONTHLY = paddleId('pri', 'monthly');
export const ONCE = paddleId('pri', 'once');

/** Converts an event to JSON and back, which drops undefined fields. */
export function receive(event: unknown): unknown {
  return JSON.parse(JSON.stringify(event));
}

/** Normalizes a parsed body. */
export function normalizePaddle(body: unknown): BillingEvent {
  return paddleAdapter.normalize(body, { headers: {}, rawBody: Buffer.alloc(0) });
}

/** Normalizes an event as received. */
export function normalize(event: PaddleEvent): BillingEvent {
  return normalizePaddle(receive(event));
}

/** Returns the only fact of an event that is not ignored. */
export function factOf(event: PaddleEvent): BillingFact {
  const { facts, ignoredBecause } = normalize(event);
  assert.equal(ignoredBecause, null);
  const [fact, ...others] = facts;
  assert.ok(fact !== undefined && others.length === 0);
  return fact;
}

/** Picks fields of a fact. */
export function pick(fact: BillingFact, ...names: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fact).filter(([name]) => names.includes(name)));
}

/** Asserts that an event is ignored for a reason. */
export function assertIgnored(event: PaddleEvent, reason: string): void {
  const { facts, ignoredBecause } = normalize(event);
  assert.deepEqual({ facts, ignoredBecause }, { facts: [], ignoredBecause: reason });
}
