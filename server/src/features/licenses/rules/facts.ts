/**
 * What is stored about a license and decides its status. The status itself is never stored: it follows from these facts
 * and the present moment.
 */
export interface LicenseStanding {
  readonly id: string;
  /** The product's id in the catalogue. */
  readonly productId: string;
  /** Granted by trial; its tier is `trial` as well, but only this decides. */
  readonly trial: boolean;
  /** Paid again and again: only these have days of grace. */
  readonly subscription: boolean;
  /** The end of the fixed term, or of what was paid; null: perpetual. */
  readonly expiresAt: Date | null;
  /** When an announced cancellation takes effect. */
  readonly cancelScheduledFor: Date | null;
  readonly pausedAt: Date | null;
  readonly canceledAt: Date | null;
  /** By the operator. */
  readonly suspendedAt: Date | null;
  /** Since when the payment has been disputed, as the provider says; this suspends too. */
  readonly disputedAt: Date | null;
  readonly refundedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** A license with what was sold under it. */
export interface LicenseFacts extends LicenseStanding {
  readonly tier: string | null;
  readonly features: readonly string[];
  readonly maxActivations: number;
  readonly createdAt: Date;
}

/** What a license gives its holder. */
export interface LicenseTerms {
  readonly tier: string | null;
  readonly features: readonly string[];
  /** How long a client may run without asking again. */
  readonly offlineDays: number;
}

/** What is stored about an activation, as far as validate and deactivate ask. */
export interface ActivationFacts {
  readonly id: string;
  readonly licenseId: string;
  /** As the client sent it; null until the first validate binds one. */
  readonly machineId: string | null;
  readonly deactivatedAt: Date | null;
}
