import * as fc from 'fast-check';
import type { LicenseStatusFacts } from './facts.ts';

export const DAY_MS = 86_400_000;

/** Parses a date. */
export function at(text: string): Date {
  return new Date(text);
}

/** Adds milliseconds to a date. */
export function plus(date: Date, ms: number): Date {
  return new Date(date.getTime() + ms);
}

/** A perpetual license. */
export const perpetual: LicenseStatusFacts = {
  id: '0193a1b2-0000-7000-8000-000000000001',
  productId: 'personal',
  trial: false,
  subscription: false,
  expiresAt: null,
  updatesUntil: null,
  cancelScheduledFor: null,
  pausedAt: null,
  canceledAt: null,
  suspendedAt: null,
  disputedAt: null,
  refundedAt: null,
  revokedAt: null,
};

/** A date in the first months of 2026. */
export const anyDate = fc.date({
  min: at('2026-01-01'),
  max: at('2026-06-01'),
  noInvalidDate: true,
});
const rarely = fc.oneof(
  { weight: 5, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: anyDate },
);

/** Any combination of facts, usual ones more often. */
export const anyStatusFacts: fc.Arbitrary<LicenseStatusFacts> = fc.record({
  id: fc.constant(perpetual.id),
  productId: fc.constant(perpetual.productId),
  trial: fc.boolean(),
  subscription: fc.boolean(),
  expiresAt: fc.option(anyDate, { nil: null }),
  updatesUntil: rarely,
  cancelScheduledFor: fc.option(anyDate, { nil: null, freq: 2 }),
  pausedAt: rarely,
  canceledAt: rarely,
  suspendedAt: rarely,
  disputedAt: rarely,
  refundedAt: rarely,
  revokedAt: rarely,
});
