import type { LicenseStanding } from '../licenses/rules/facts.ts';
import type { TrialTerms } from './queries.ts';

/** The facts of a trial's license when it is granted. */
export function standingOfTrial(id: string, terms: TrialTerms): LicenseStanding {
  return {
    id,
    productId: terms.productId,
    trial: true,
    subscription: false,
    expiresAt: terms.expiresAt,
    cancelScheduledFor: null,
    canceledAt: null,
    pausedAt: null,
    suspendedAt: null,
    disputedAt: null,
    refundedAt: null,
    revokedAt: null,
  };
}
