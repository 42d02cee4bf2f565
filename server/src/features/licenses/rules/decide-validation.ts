import type { ActivationFacts, LicenseStanding } from './facts.ts';
import { compareMachineId } from './machine-id.ts';
import { refusalReason, type ValidationRefusal } from './reasons.ts';
import {
  isUsable,
  licenseStatus,
  publicExpiry,
  type LicenseStatus,
  type UsableStatus,
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
