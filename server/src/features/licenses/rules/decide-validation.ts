import type { ActivationFacts, LicenseStatusFacts } from './facts.ts';
import {
  isUsable,
  licenseStatus,
  publicExpiry,
  type LicenseStatus,
  type RefusedStatus,
  type UsableStatus,
} from './status.ts';

/** Why a validation is refused; part of the interface. */
export type ValidationRefusalReason =
  | 'activation_not_found'
  | 'activation_inactive'
  | 'machine_mismatch'
  | `license_${RefusedStatus}`
  | 'trial_expired';

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
      readonly status: LicenseStatus;
      readonly reason: ValidationRefusalReason;
      readonly expiresAt: Date | null;
    };

/**
 * Decides a validation. Returns the first reason that applies, in this order: activation_not_found, the license's own,
 * activation_inactive, machine_mismatch.
 *
 * Two machines that validate at once may both get a `bindMachineId`. The caller must bind only an unbound activation,
 * and then decide again.
 * @param activation null when there is none of that id; one of another license is treated as none
 * @param machineId as the client sent it
 */
export function decideValidation(
  license: LicenseStatusFacts,
  activation: ActivationFacts | null,
  machineId: string,
  now: Date,
): ValidationDecision {
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

function refusalReason(
  license: LicenseStatusFacts,
  status: RefusedStatus,
): ValidationRefusalReason {
  return license.trial && status === 'expired' ? 'trial_expired' : `license_${status}`;
}

/** The outcome of a deactivation, or why it is refused; `already`: it is inactive, and nothing is written. */
export type DeactivationDecision =
  | 'deactivate'
  | 'already'
  | 'activation_not_found'
  | 'machine_mismatch';

/**
 * Decides a deactivation. The license's status does not matter: a machine can always be deactivated. While no machine
 * id is bound, any is accepted, because the key and the activation's id are proof enough.
 * @param activation null when there is none of that id; one of another license is treated as none
 * @param machineId as the client sent it
 */
export function decideDeactivation(
  license: Pick<LicenseStatusFacts, 'id'>,
  activation: ActivationFacts | null,
  machineId: string,
): DeactivationDecision {
  if (activation === null || activation.licenseId !== license.id) return 'activation_not_found';
  if (compareMachineId(activation.machineId, machineId) === 'other') return 'machine_mismatch';
  return activation.deactivatedAt === null ? 'deactivate' : 'already';
}

/** Compares machine ids verbatim, because their format is the client's own. */
function compareMachineId(stored: string | null, presented: string): 'same' | 'other' | 'unbound' {
  if (stored === null) return 'unbound';
  return stored === presented ? 'same' : 'other';
}
