import type { ActivationFacts, LicenseStanding } from './facts.ts';
import { compareMachineId } from './machine-id.ts';

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
