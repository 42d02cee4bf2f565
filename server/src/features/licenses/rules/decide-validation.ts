import type { ActivationFacts, LicenseStanding } from './facts.ts';
import {
  isUsable,
  licenseStatus,
  publicExpiry,
  type LicenseStatus,
  type RefusedStatus,
  type UsableStatus,
} from './status.ts';

/** Why a license is refused; part of the interface. */
export type LicenseRefusalReason = `license_${RefusedStatus}` | 'trial_expired';

/** Why a deactivation is refused; part of the interface. */
export type DeactivationRefusalReason =
  | 'license_not_found'
  | 'activation_not_found'
  | 'machine_mismatch';

/** Why a validation is refused; part of the interface. */
export type ValidationRefusalReason =
  | DeactivationRefusalReason
  | 'activation_inactive'
  | LicenseRefusalReason;

/** The outcome of a validation, apart from what follows from the license (tier, days left). */
export type ValidationDecision =
  | {
      readonly valid: true;
      readonly status: UsableStatus;
      readonly expiresAt: Date | null;
      /** The id to bind to an activation without one; null when the activation is bound. */
      readonly bindMachineId: string | null;
    }
  | {
      readonly valid: false;
      readonly status: LicenseStatus | 'invalid';
      readonly reason: ValidationRefusalReason;
      readonly expiresAt: Date | null;
    };

/**
 * Decides a validation. The first reason that applies is returned, in this order: license_not_found, activation_not_found,
 * the license's own, activation_inactive, machine_mismatch.
 *
 * Two machines that validate at once may both get a `bindMachineId`. The caller must bind only an unbound activation, and
 * then decide again.
 * @param license null when no license has the key
 * @param activation null when there is none of that id; one of another license is treated as none
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
  const refuse = (reason: ValidationRefusalReason): ValidationDecision => ({
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

function refusalReason(license: LicenseStanding, status: RefusedStatus): LicenseRefusalReason {
  return license.trial && status === 'expired' ? 'trial_expired' : `license_${status}`;
}

/** The outcome of a deactivation; `already`: it is inactive, the answer is the same, and nothing is written. */
export type DeactivationDecision =
  | { readonly kind: 'deactivate' }
  | { readonly kind: 'already' }
  | { readonly kind: 'refused'; readonly reason: DeactivationRefusalReason };

/**
 * Decides a deactivation. The license's status does not matter: a machine can always be deactivated. While no machine id
 * is bound, any is accepted, because the key and the activation's id are proof enough.
 * @param license null when no license has the key
 * @param activation null when there is none of that id; one of another license is treated as none
 * @param machineId as the client sent it
 */
export function decideDeactivation(
  license: Pick<LicenseStanding, 'id'> | null,
  activation: ActivationFacts | null,
  machineId: string,
): DeactivationDecision {
  if (license === null) return { kind: 'refused', reason: 'license_not_found' };
  if (activation === null || activation.licenseId !== license.id) {
    return { kind: 'refused', reason: 'activation_not_found' };
  }
  if (compareMachineId(activation.machineId, machineId) === 'other') {
    return { kind: 'refused', reason: 'machine_mismatch' };
  }
  return { kind: activation.deactivatedAt === null ? 'deactivate' : 'already' };
}

/** Compares machine ids verbatim, because their format is the client's own. */
function compareMachineId(stored: string | null, presented: string): 'same' | 'other' | 'unbound' {
  if (stored === null) return 'unbound';
  return stored === presented ? 'same' : 'other';
}
