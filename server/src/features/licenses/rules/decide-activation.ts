import {
  DEFAULT_EXTRA_MOVES,
  DEFAULT_MOVE_DAYS,
  type CatalogMoves,
} from '#server/config/catalog-model.ts';

import {
  isSameMachine,
  sharesStrongComponent,
  type HashedIdentity,
} from '../fingerprint/identity.ts';
import type { LicenseStanding } from './facts.ts';
import { isUsable, licenseStatus, type RefusedStatus, type UsableStatus } from './status.ts';

/** A machine that holds a slot. */
export interface ActiveMachine {
  readonly activationId: string;
  readonly identity: HashedIdentity;
}

/** What becomes of an activation. */
export type ActivationDecision =
  /** The machine has a slot: it gets its activation back. */
  | { readonly kind: 'again'; readonly status: UsableStatus; readonly activationId: string }
  | { readonly kind: 'new'; readonly status: UsableStatus }
  | { readonly kind: 'limit'; readonly max: number; readonly current: number }
  | { readonly kind: 'refused'; readonly status: RefusedStatus };

/**
 * Decides an activation. To be called with the license locked, since machines that ask at once must not exceed the limit
 * together. When the limit was lowered below the slots taken, active machines stay active; only new ones are refused.
 * @param activeCount how many of the license's machines are not deactivated
 * @param candidates those of them that may be this machine, in any settled order: at least all that share its digest, or
 * a strong or medium component with it
 */
export function decideActivation(
  license: LicenseStanding & { readonly maxActivations: number },
  activeCount: number,
  candidates: readonly ActiveMachine[],
  identity: HashedIdentity,
  now: Date,
): ActivationDecision {
  const status = licenseStatus(license, now);
  if (!isUsable(status)) return { kind: 'refused', status };
  const known = findMachine(candidates, identity);
  if (known !== undefined) return { kind: 'again', status, activationId: known.activationId };
  if (activeCount >= license.maxActivations) {
    return { kind: 'limit', max: license.maxActivations, current: activeCount };
  }
  return { kind: 'new', status };
}

/** Returns which of some machines is the presented one. Of several that match, one that shares a strong component is the surest. */
export function findMachine(
  candidates: readonly ActiveMachine[],
  identity: HashedIdentity,
): ActiveMachine | undefined {
  return (
    candidates.find((machine) => sharesStrongComponent(machine.identity, identity)) ??
    candidates.find((machine) => isSameMachine(machine.identity, identity))
  );
}

const DAY_MS = 86_400_000;

/** How many different machines a license may be activated on within a period. */
export interface MoveAllowance {
  readonly limit: number;
  readonly days: number;
  /** The beginning of the period that ends now. */
  readonly since: Date;
}

/**
 * Without this limit, one place could be passed from machine to machine, each keeping a token that is valid offline.
 * @param moves the rule of the license's product; undefined when the product left the catalogue
 */
export function readMoveAllowance(
  { maxActivations }: { readonly maxActivations: number },
  moves: CatalogMoves | undefined,
  now: Date,
): MoveAllowance {
  const { extra, days } = moves ?? { extra: DEFAULT_EXTRA_MOVES, days: DEFAULT_MOVE_DAYS };
  const since = new Date(now.getTime() - days * DAY_MS);
  return { limit: maxActivations + extra, days, since };
}

/** Returns when a move leaves the period, and another one becomes possible. */
export function endOfMove(movedAt: Date, { days }: MoveAllowance): Date {
  return new Date(movedAt.getTime() + days * DAY_MS);
}
