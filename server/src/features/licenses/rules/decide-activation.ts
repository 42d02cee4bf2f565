import { isSameMachine, sharesStrongComponent } from '../fingerprint/compare.ts';
import type { HashedIdentity } from '../fingerprint/hashed-identity.ts';
import type { LicenseStanding } from './facts.ts';
import { isUsable, licenseStatus, type RefusedStatus } from './status.ts';

/** A machine that holds a slot. */
export interface ActiveMachine {
  readonly activationId: string;
  readonly identity: HashedIdentity;
}

/** What becomes of an activation. */
export type ActivationDecision =
  /** The machine has a slot: it gets its activation back. */
  | { readonly kind: 'again'; readonly activationId: string }
  | { readonly kind: 'new' }
  | { readonly kind: 'limit'; readonly max: number; readonly current: number }
  | { readonly kind: 'refused'; readonly status: RefusedStatus };

/**
 * Decides an activation. To be called with the licence locked, for N machines at once must not pass the limit.
 * A machine that is active stays so when the limit was lowered below the slots taken; only new ones are refused.
 * @param active the licence's machines that are not deactivated, in any settled order
 */
export function decideActivation(
  license: LicenseStanding & { readonly maxActivations: number },
  active: readonly ActiveMachine[],
  identity: HashedIdentity,
  now: Date,
): ActivationDecision {
  const status = licenseStatus(license, now);
  if (!isUsable(status)) return { kind: 'refused', status };
  const known = findMachine(active, identity);
  if (known !== undefined) return { kind: 'again', activationId: known.activationId };
  if (active.length >= license.maxActivations) {
    return { kind: 'limit', max: license.maxActivations, current: active.length };
  }
  return { kind: 'new' };
}

/** Among several alike, the one that shares a strong component is the surer one. */
function findMachine(
  active: readonly ActiveMachine[],
  identity: HashedIdentity,
): ActiveMachine | undefined {
  return (
    active.find((machine) => sharesStrongComponent(machine.identity, identity)) ??
    active.find((machine) => isSameMachine(machine.identity, identity))
  );
}
