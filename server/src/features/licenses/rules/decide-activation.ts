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
import type { LicenseStatusFacts } from './facts.ts';
import { isUsable, licenseStatus, type RefusedStatus, type UsableStatus } from './status.ts';

const DAY_MS = 86_400_000;

interface Machine {
  readonly identity: HashedIdentity;
}

/** The outcome of a request to activate. */
export type ActivationDecision<Activation extends Machine> =
  | {
      readonly kind: 'existing';
      readonly status: UsableStatus;
      readonly activation: Activation;
    }
  | { readonly kind: 'new'; readonly status: UsableStatus }
  | { readonly kind: 'limit'; readonly max: number; readonly current: number }
  | { readonly kind: 'refused'; readonly status: RefusedStatus };

/**
 * Decides an activation. The license must be locked, so that concurrent activations cannot exceed the limit together.
 * When the limit was lowered below the number of active machines, these stay active, and new ones are refused.
 * @param activeCount the number of active machines of the license
 * @param candidates the active machines that may be this machine, in a stable order: at least all that share its
 *   digest, or a strong or medium component with it
 */
export function decideActivation<Activation extends Machine>(
  license: LicenseStatusFacts & { readonly maxActivations: number },
  activeCount: number,
  candidates: readonly Activation[],
  identity: HashedIdentity,
  now: Date,
): ActivationDecision<Activation> {
  const status = licenseStatus(license, now);
  if (!isUsable(status)) return { kind: 'refused', status };
  const existing = findMachine(candidates, identity);
  if (existing !== undefined) return { kind: 'existing', status, activation: existing };
  if (activeCount >= license.maxActivations) {
    return { kind: 'limit', max: license.maxActivations, current: activeCount };
  }
  return { kind: 'new', status };
}

/**
 * Finds a machine among candidates; one that shares a strong component is preferred, because it matches most surely.
 */
export function findMachine<Candidate extends Machine>(
  candidates: readonly Candidate[],
  identity: HashedIdentity,
): Candidate | undefined {
  return (
    candidates.find((machine) => sharesStrongComponent(machine.identity, identity)) ??
    candidates.find((machine) => isSameMachine(machine.identity, identity))
  );
}

/** The limit of different machines on which a license may be activated within a period. */
export interface MoveAllowance {
  readonly limit: number;
  readonly days: number;
  /** The start of the period. */
  readonly since: Date;
  /** The end of the period. */
  readonly now: Date;
}

/**
 * Returns the limit of moves. Without it, one activation could move from machine to machine, each of which keeps a
 * token that is valid offline.
 * @param moves the rule of the license's product; undefined when the product is no longer in the catalogue
 */
export function readMoveAllowance(
  { maxActivations }: { readonly maxActivations: number },
  moves: CatalogMoves | undefined,
  now: Date,
): MoveAllowance {
  const { extra, days } = moves ?? { extra: DEFAULT_EXTRA_MOVES, days: DEFAULT_MOVE_DAYS };
  const since = new Date(now.getTime() - days * DAY_MS);
  return { limit: maxActivations + extra, days, since, now };
}
