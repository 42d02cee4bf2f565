import type { LicenseActivate, LicenseActivateResponse } from '@latchkey/contract';
import type { PoolClient } from 'pg';
import { v7 as makeUuid } from 'uuid';

import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import {
  activationLimitReached,
  licenseNotFound,
  licenseNotUsable,
  moveLimitReached,
} from '#server/errors.ts';

import { issueEntitlement } from '../entitlements/issue-entitlement.ts';
import { recordEvents } from '../outgoing-webhooks/record-events.ts';
import { hasKey } from './added-keys.ts';
import type { LicenseDependencies } from './dependencies.ts';
import { recordUnknownKey, refuse, refuseActivation, requireByKey } from './find-license.ts';

import {
  countActiveActivations,
  insertActivations,
  listCandidateActivations,
  listMoveCandidates,
  refreshActivation,
  type ActivationRecord,
} from './queries/activations.ts';
import { takeOverSeat } from './queries/imported-seats.ts';
import { lockLicense, type LicenseRecord } from './queries/licenses.ts';
import { findEndOfMove, useExtraMove } from './queries/moves.ts';
import { readMachine, type IdentifiedMachine } from './read-machine.ts';
import { decideActivation, findMachine, readMoveAllowance } from './rules/decide-activation.ts';
import type { LicenseTerms } from './rules/facts.ts';
import { publicExpiry, type UsableStatus } from './rules/status.ts';
import { readTerms } from './terms.ts';
import { viewUpdates } from './view-updates.ts';

/** Why a license may not be activated on another machine. */
export const ACTIVATION_PROBLEMS = [
  'license_not_found',
  'activation_limit_reached',
  'move_limit_reached',
  'license_expired',
  'license_paused',
  'license_canceled',
  'license_refunded',
  'license_suspended',
  'license_revoked',
  'rate_limited',
] as const;

/** An active machine of a license. */
export interface Activation {
  readonly activationId: string;
  readonly status: UsableStatus;
  readonly expiresAt: Date | null;
  /** The end of updates; null: it gets all. */
  readonly updatesUntil: Date | null;
  readonly terms: LicenseTerms;
  readonly token: string;
}

/**
 * Activates a license on a machine, or returns the activation that the machine already has.
 * @throws InvalidRequestError (422) for a fingerprint that is empty or too large
 * @throws licenseNotFound, licenseNotUsable, activationLimitReached, moveLimitReached
 */
export async function activateLicense(
  deps: LicenseDependencies,
  request: LicenseActivate,
  clientAddress: string,
): Promise<LicenseActivateResponse> {
  const machine = readMachine(deps.vault, request.machine_fingerprint);
  const { license } = await requireByKey(deps, request.license_key, null, clientAddress);
  const activation = await activateMachine(deps, license.id, machine, request.install_id ?? null, {
    key: request.license_key,
    clientAddress,
  });
  const { activationId, status, expiresAt, terms, token } = activation;
  return {
    activation_id: activationId,
    expires_at: expiresAt?.toISOString() ?? null,
    features: [...terms.features],
    tier: terms.tier,
    status,
    ...viewUpdates(activation),
    entitlement: token,
  };
}

/**
 * Activates a machine in a short transaction that locks the license, so that concurrent calls cannot exceed the limit.
 * @param usedKey the key by which the license was found; null when it was found without one
 */
export async function activateMachine(
  deps: LicenseDependencies,
  licenseId: string,
  machine: IdentifiedMachine,
  installId: string | null,
  usedKey: UsedKey | null,
): Promise<Activation> {
  return changeMachines(deps, licenseId, requireUsedKey(deps, usedKey), (client, license) =>
    activateOnLocked(deps, client, license, machine, installId),
  );
}

/**
 * Runs a change of the machines of a license in a transaction that locks it. Calls for the same license queue before they
 * take a connection.
 * @param authorize throws when the caller may no longer change the license
 * @throws licenseNotFound (404)
 */
export async function changeMachines<Result>(
  deps: LicenseDependencies,
  licenseId: string,
  authorize: Authorize,
  change: (client: PoolClient, license: LicenseRecord) => Promise<Result>,
): Promise<Result> {
  const result = await deps.licenseLimiter.runForKey(licenseId, () =>
    deps.databaseLimiter.run(() =>
      inTransaction(deps.pool, async (client) => {
        const license = await lockLicense(client, licenseId);
        if (license === null) throw licenseNotFound();
        await authorize(client, license);
        return change(client, license);
      }),
    ),
  );
  deps.licenseActivity.recordMachineChange(licenseId);
  return result;
}

/** Throws when a caller may not change a license, which is locked. */
export type Authorize = (client: PoolClient, license: LicenseRecord) => Promise<void>;

/** The key by which a client found a license. */
interface UsedKey {
  readonly key: string;
  readonly clientAddress: string;
}

/**
 * Requires that a license still has the key by which it was found.
 * @param usedKey null: it was found without one
 */
export function requireUsedKey(deps: LicenseDependencies, usedKey: UsedKey | null): Authorize {
  return async (client, license) => {
    if (usedKey !== null) await requireCurrentKey(deps, client, license, usedKey);
  };
}

/** The key may have been replaced between its look-up and the lock of the license. */
async function requireCurrentKey(
  deps: LicenseDependencies,
  client: Queryable,
  license: LicenseRecord,
  { key, clientAddress }: UsedKey,
): Promise<void> {
  if (await hasKey(deps, client, license, key)) return;
  await recordUnknownKey(deps, clientAddress);
  throw refuse(deps, 'license_lookup', licenseNotFound());
}

/**
 * Activates a machine of a locked license, or returns the activation that the machine already has. A new machine takes over a
 * seat that an imported license used in its previous system, when all machines of the license are in use: it knew the machine
 * there, so that it is no move.
 */
export async function activateOnLocked(
  deps: LicenseDependencies,
  client: Queryable,
  license: LicenseRecord,
  machine: IdentifiedMachine,
  installId: string | null,
): Promise<Activation> {
  const now = deps.clock.now();
  const { status, existing } = await decide(deps, client, license, machine, now);
  const id = existing?.id ?? makeUuid();
  const takesSeat = existing === null && (await takeOverSeat(client, license, id, now));
  const countsAsMove =
    existing === null && !takesSeat && (await checkMoveLimit(deps, client, license, machine, now));
  const terms = await readTerms(client, deps.catalog(), license);
  const entitlementProof = existing?.entitlementProof ?? null;
  const machineId = machine.machineId ?? existing?.machineId ?? null;
  const activation = { id, machineId, entitlementProof };
  const { token, newProof } = issueEntitlement(deps, license, terms, status, activation, now);
  const change = {
    ...machine,
    licenseId: license.id,
    id,
    installId,
    entitlementProof: newProof ?? entitlementProof,
  };
  if (existing === null) {
    await insertActivations(client, [change], now, countsAsMove);
    const details = { activation_id: id };
    await recordEvents(deps, client, [{ type: 'activation.added', license, details }], now);
  } else {
    await refreshActivation(client, change, now);
  }
  const { updatesUntil } = license;
  return {
    activationId: id,
    status,
    expiresAt: publicExpiry(license, now),
    updatesUntil,
    terms,
    token,
  };
}

/** Finds the existing activation of a machine; null when the machine may have a new one. */
async function decide(
  deps: LicenseDependencies,
  client: Queryable,
  license: LicenseRecord,
  { identity, olderIdentities }: IdentifiedMachine,
  now: Date,
): Promise<{ status: UsableStatus; existing: ActivationRecord | null }> {
  const activeCount = await countActiveActivations(client, license.id);
  const decideFor = async (presented: IdentifiedMachine['identity']) => {
    const candidates = await listCandidateActivations(client, license.id, presented);
    return decideActivation(license, activeCount, candidates, presented, now);
  };
  let decision = await decideFor(identity);
  // A row hashed under a previous master secret matches only an identity hashed under the same secret.
  for (const older of olderIdentities) {
    if (decision.kind === 'existing' || decision.kind === 'refused') break;
    decision = await decideFor(older);
  }
  switch (decision.kind) {
    case 'refused':
      throw refuseActivation(deps, license.id, licenseNotUsable(decision.status));
    case 'limit':
      throw refuseActivation(
        deps,
        license.id,
        activationLimitReached(decision.max, decision.current),
      );
    case 'existing':
      return { status: decision.status, existing: decision.activation };
    case 'new':
      return { status: decision.status, existing: null };
  }
}

/**
 * Checks whether a locked license may move to a machine without an activation. A machine to which the license moved
 * within the period may always return. Any other machine is a move; at the limit it uses an extra move that an operator
 * allowed. A machine counts from its move and not from its last use: returning would otherwise extend the period for any
 * number of machines.
 * @returns whether the activation counts as a move
 * @throws moveLimitReached
 */
async function checkMoveLimit(
  deps: LicenseDependencies,
  client: Queryable,
  license: LicenseRecord,
  { identity, olderIdentities }: IdentifiedMachine,
  now: Date,
): Promise<boolean> {
  const product = deps.catalog().products.get(license.productId);
  const allowance = readMoveAllowance(license, product?.moves, now);
  for (const presented of [identity, ...olderIdentities]) {
    const candidates = await listMoveCandidates(client, license.id, presented, allowance);
    if (findMachine(candidates, presented) !== undefined) return false;
  }
  const { limit, days } = allowance;
  const endOfMove = await findEndOfMove(client, license.id, allowance, limit);
  if (endOfMove === null) return true;
  if (await useExtraMove(client, license.id)) return true;
  throw refuseActivation(deps, license.id, moveLimitReached(limit, days, endOfMove));
}
