import type { BillingFact } from '../facts.ts';

/** What became of one line: which product for how many machines, and every fact that decides the status. */
export interface ExpectedLicense {
  readonly lineKey: string;
  readonly productId: string;
  readonly machines: number;
  readonly expiresAt: Date | null;
  readonly cancelScheduledFor?: Date;
  readonly canceledAt?: Date;
  readonly pausedAt?: Date;
  readonly disputedAt?: Date;
  readonly refundedAt?: Date;
}

/** A story of a purchase and how it ends, whatever the order in which it is told. */
export interface Scenario {
  readonly name: string;
  readonly facts: readonly BillingFact[];
  readonly ends: readonly ExpectedLicense[];
}

/** The license of a line that is paid once, as far as nothing else is said. */
export const ONCE = { lineKey: 'once:0', productId: 'personal', machines: 2, expiresAt: null };

/** The license of a line that is paid by the month. */
export const MONTHLY = { lineKey: 'recurring:0', productId: 'personal', machines: 2 };
