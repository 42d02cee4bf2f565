import type { LicenseStanding } from '../licenses/rules/facts.ts';
import type { listTrials } from './queries.ts';

/** A trial that was granted, now or earlier. */
export interface Trial {
  readonly license: LicenseStanding;
  readonly keySealed: Buffer;
  readonly activation: {
    readonly id: string;
    readonly machineId: string | null;
    readonly machineDigest: string;
    readonly isActive: boolean;
    readonly entitlementProof: string | null;
  };
}

type TrialRow = Awaited<ReturnType<typeof listTrials>>[number];

/** Reads a stored trial. */
export function toTrial(row: TrialRow): Trial {
  return {
    license: {
      id: row.id,
      productId: row.product_id,
      trial: true,
      subscription: false,
      expiresAt: row.expires_at,
      cancelScheduledFor: row.cancel_scheduled_for,
      canceledAt: row.canceled_at,
      pausedAt: row.paused_at,
      suspendedAt: row.suspended_at,
      disputedAt: null,
      refundedAt: row.refunded_at,
      revokedAt: row.revoked_at,
    },
    keySealed: row.key_sealed,
    activation: {
      id: row.activation_id,
      machineId: row.machine_id,
      machineDigest: row.machine_digest,
      isActive: row.deactivated_at === null,
      entitlementProof: row.entitlement_proof,
    },
  };
}
