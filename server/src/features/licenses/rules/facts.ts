/** What is stored about a licence. Its status is never stored: it follows from these facts and the present moment. */
export interface LicenseFacts {
  readonly id: string;
  /** The product's id in the catalogue. */
  readonly productId: string;
  readonly tier: string | null;
  readonly features: readonly string[];
  readonly maxActivations: number;
  /** Granted by trial; its tier is `trial` as well, but only this decides. */
  readonly trial: boolean;
  readonly createdAt: Date;
  /** The end of the fixed term, or of what was paid; null: perpetual. */
  readonly expiresAt: Date | null;
  /** Paid again and again: only these have days of grace. */
  readonly subscription: boolean;
  /** When a cancellation that was announced is to take effect. */
  readonly cancelScheduledFor: Date | null;
  readonly pausedAt: Date | null;
  readonly canceledAt: Date | null;
  readonly suspendedAt: Date | null;
  readonly refundedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** What is stored about an activation, as far as validate and deactivate ask. */
export interface ActivationFacts {
  readonly id: string;
  readonly licenseId: string;
  /** As the client sent it; null until the first validate binds one. */
  readonly machineId: string | null;
  readonly deactivatedAt: Date | null;
}
