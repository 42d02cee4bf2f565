import assert from 'node:assert/strict';

import { paddleId, type PaddleEvent } from '../../../../../test/payment-providers/paddle-events.ts';
import type { BillingFact } from '../../facts.ts';
import { normalizePaddle } from './adapter.ts';

export const AT = new Date('2027-03-01T12:00:00.000Z');
export const NOBODY = { email: null, name: null, locale: null };
export const MONTHLY = paddleId('pri', 'monthly');
export const ONCE = paddleId('pri', 'once');

/** As it arrives: what is undefined has gone. */
export function receive(event: unknown): unknown {
  return JSON.parse(JSON.stringify(event));
}

/** What an event means once it has arrived. */
export function normalize(event: PaddleEvent): ReturnType<typeof normalizePaddle> {
  return normalizePaddle(receive(event));
}

/** The only fact of an event, which is not ignored. */
export function factOf(event: PaddleEvent): BillingFact {
  const { facts, ignoredBecause } = normalize(event);
  assert.equal(ignoredBecause, null);
  const [fact, ...others] = facts;
  assert.ok(fact !== undefined && others.length === 0);
  return fact;
}

/** Some fields of a fact. */
export function pick(fact: BillingFact, ...names: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fact).filter(([name]) => names.includes(name)));
}

/** Proves that an event has no facts, for this reason. */
export function assertIgnored(event: PaddleEvent, reason: string): void {
  const { facts, ignoredBecause } = normalize(event);
  assert.deepEqual({ facts, ignoredBecause }, { facts: [], ignoredBecause: reason });
}
