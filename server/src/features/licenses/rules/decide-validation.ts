import type { ActivationFacts, LicenseStanding } from './facts.ts';
import {
  isUsable,
  licenseStatus,
  publicExpiry,
  type LicenseStatus,
  type UsableStatus,
  type RefusedStatus,
} from './status.ts';

/** The answer to a validation, apart from what follows from the license (tier, days left). */
export type ValidationDecision =
  | {
      readonly valid: true;
      readonly status: UsableStatus;
      readonly expiresAt: Date | null;
      /** The id to bind to the activation, when it has none yet; null when there is nothing to bind. */
      readonly bindMachineId: string | null;
    }
  | {
      readonly valid: false;
      readonly status: LicenseStatus | 'invalid';
      readonly reason: ValidationRefusal;
      readonly expiresAt: Date | null;
    };

/**
 * Decides a validation. It gives the first reason that applies, in this order: license_not_found, activation_not_found,
 * the license's own, activation_inactive, machine_mismatch.
 *
 * Two machines may both be told to bind. So the caller must bind only where nothing is bound yet, and then decide again
 * on what is bound.
 * @param license null when no license has the key
 * @param activation null when there is none of that id; one of another license counts as none
 * @param machineId as the client sent it
 */
export function decideValidation(
  license: LicenseStanding | null,
  activation: ActivationFacts | null,
  machineId: string,
  now: Date,
): ValidationDecision {
  if (license === null) {
    return { valid: false, status: 'invalid', reason: 'license_not_found', expiresAt: null };
  }
  const status = licenseStatus(license, now);
  const expiresAt = publicExpiry(license, now);
  const refuse = (reason: ValidationRefusal): ValidationDecision => ({
    valid: false,
    status,
    reason,
    expiresAt,
  });
  if (activation === null || activation.licenseId !== license.id) {
    return refuse('activation_not_found');
  }
  if (!isUsable(status)) return refuse(refusalReason(license, status));
  if (activation.deactivatedAt !== null) return refuse('activation_inactive');
  const machine = compareMachineId(activation.machineId, machineId);
  if (machine === 'other') return refuse('machine_mismatch');
  return {
    valid: true,
    status,
    expiresAt,
    bindMachineId: machine === 'unbound' ? machineId : null,
  };
}

/** Why a license itself is refused; stable words, part of the interface. */
export type LicenseRefusal = `license_${RefusedStatus}` | 'trial_expired';

/** Why a validation says no; stable words, part of the interface. */
export type ValidationRefusal =
  | 'license_not_found'
  | 'activation_not_found'
  | 'activation_inactive'
  | 'machine_mismatch'
  | LicenseRefusal;

/** The reason a validation gives for a license that may not be used: `license_<status>`, or `trial_expired`. */
function refusalReason(facts: LicenseStanding, status: RefusedStatus): LicenseRefusal {
  return facts.trial && status === 'expired' ? 'trial_expired' : `license_${status}`;
}

/** What becomes of a deactivation. */
export type DeactivationDecision =
  | { readonly kind: 'deactivate' }
  /** It was deactivated before: the answer is the same, nothing is written. */
  | { readonly kind: 'already' }
  | {
      readonly kind: 'refused';
      readonly code: 'license_not_found' | 'activation_not_found' | 'machine_mismatch';
    };

/**
 * Decides a deactivation. The license's status does not matter: a slot can always be freed. While no machine id is bound,
 * any is accepted, since the key and the activation's id are proof enough.
 * @param license null when no license has the key
 * @param activation null when there is none of that id; one of another license counts as none
 * @param machineId as the client sent it
 */
export function decideDeactivation(
  license: Pick<LicenseStanding, 'id'> | null,
  activation: ActivationFacts | null,
  machineId: string,
): DeactivationDecision {
  if (license === null) return { kind: 'refused', code: 'license_not_found' };
  if (activation === null || activation.licenseId !== license.id) {
    return { kind: 'refused', code: 'activation_not_found' };
  }
  if (compareMachineId(activation.machineId, machineId) === 'other') {
    return { kind: 'refused', code: 'machine_mismatch' };
  }
  return { kind: activation.deactivatedAt === null ? 'deactivate' : 'already' };
}

/**
 * How a presented machine id compares to an activation's: `same`, `other`, or `unbound` when the activation has none yet.
 * Compared verbatim: the id is the client's own text, and nothing is known about its form.
 */
function compareMachineId(stored: string | null, presented: string): 'same' | 'other' | 'unbound' {
  if (stored === null) return 'unbound';
  return stored === presented ? 'same' : 'other';
}
