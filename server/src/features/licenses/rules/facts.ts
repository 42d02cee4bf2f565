/** The stored facts that determine a license's status. The status itself is never stored: it depends on the time too. */
export interface LicenseStatusFacts {
  readonly id: string;
  /** The product's id in the catalogue. */
  readonly productId: string;
  /** A trial; its tier is `trial` as well, but only this field decides. */
  readonly trial: boolean;
  /** Paid periodically: only subscriptions have a grace period. */
  readonly subscription: boolean;
  /** The end of the fixed term or of the paid period; null: perpetual. */
  readonly expiresAt: Date | null;
  /** The end of the time in which it gets new versions, whatever its status is; null: it gets all. */
  readonly updatesUntil: Date | null;
  /** When a scheduled cancellation takes effect. */
  readonly cancelScheduledFor: Date | null;
  readonly pausedAt: Date | null;
  readonly canceledAt: Date | null;
  /** Set by an operator. */
  readonly suspendedAt: Date | null;
  /** Since when the payment is disputed, as reported by the provider; suspends too. */
  readonly disputedAt: Date | null;
  readonly refundedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** A license with the terms under which it was sold. */
export interface LicenseFacts extends LicenseStatusFacts {
  readonly tier: string | null;
  readonly features: readonly string[];
  readonly maxActivations: number;
  readonly createdAt: Date;
}

/** The terms that a license grants. */
export interface LicenseTerms {
  readonly tier: string | null;
  readonly features: readonly string[];
  /** The number of days that a client may run without a validation. */
  readonly offlineDays: number;
}

/** The stored facts of an activation that validate and deactivate need. */
export interface ActivationFacts {
  readonly id: string;
  readonly licenseId: string;
  /** As the client sent it; null until the first validation binds one. */
  readonly machineId: string | null;
  readonly deactivatedAt: Date | null;
}
