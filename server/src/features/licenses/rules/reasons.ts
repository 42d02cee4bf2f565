import type { LicenseStanding } from './facts.ts';
import type { RefusedStatus } from './status.ts';

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
export function refusalReason(facts: LicenseStanding, status: RefusedStatus): LicenseRefusal {
  return facts.trial && status === 'expired' ? 'trial_expired' : `license_${status}`;
}
