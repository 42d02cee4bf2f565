import type { LicenseActivate, LicenseActivateResponse } from '@latchkey/contract';
import { v7 as makeUuid } from 'uuid';

import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';
import type { Queryable } from '#server/db/statement.ts';
import { activationLimitReached, licenseNotFound, licenseNotUsable } from '#server/errors.ts';

import { recordEvents } from '../outgoing-webhooks/record-events.ts';
import { admitMachine } from './admit-machine.ts';
import { issueEntitlement } from '../entitlements/issue-entitlement.ts';
import { noteUnknownKey, refuse, requireByKey } from './find-license.ts';
import {
  countActiveActivations,
  insertActivation,
  listActiveRelatives,
  refreshActivation,
  type ActivationChange,
  type ActivationRecord,
} from './queries/activations.ts';
import { lockLicense, type LicenseRecord } from './queries/licenses.ts';
import { readMachine, type PresentedMachine } from './read-machine.ts';
import { decideActivation, type ActivationDecision } from './rules/decide-activation.ts';
import type { LicenseTerms } from './rules/facts.ts';
import { publicExpiry, type UsableStatus } from './rules/status.ts';
import { isKeyOf } from './license-key.ts';
import { readTerms } from './terms.ts';

/** A machine that holds a slot now. */
export interface Activation {
  readonly activationId: string;
  readonly status: UsableStatus;
  readonly expiresAt: Date | null;
  readonly terms: LicenseTerms;
  readonly token: string;
}

/**
 * Gives a machine a slot of a license, or the slot that it already holds.
 * @throws InvalidRequestError (422) for a fingerprint that is empty or too large
 * @throws licenseNotFound, licenseNotUsable, activationLimitReached, moveLimitReached
 */
export async function activateLicense(
  ctx: Context,
  request: LicenseActivate,
  clientAddress: string,
): Promise<LicenseActivateResponse> {
  const machine = readMachine(ctx.vault, request.machine_fingerprint);
  const { license } = await requireByKey(ctx, request.license_key, null, clientAddress);
  const activation = await activateMachine(ctx, license.id, machine, request.install_id ?? null, {
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
    entitlement: token,
  };
}

/**
 * Takes a slot in a short transaction that locks the one license, so that the limit holds however many machines ask at
 * once. Callers for the same license queue up before they take a connection.
 * @param presented the key that the license was found by; null: it was found without one
 */
export async function activateMachine(
  ctx: Context,
  licenseId: string,
  machine: PresentedMachine,
  installId: string | null,
  presented: PresentedKey | null,
): Promise<Activation> {
  return ctx.licenseLimiter.runForKey(licenseId, () =>
    ctx.databaseLimiter.run(() =>
      inTransaction(ctx.pool, async (client) => {
        const license = await lockLicense(client, licenseId);
        if (license === null) throw licenseNotFound();
        if (presented !== null) requireCurrentKey(ctx, license, presented);
        return takeSlot(ctx, client, license, machine, installId);
      }),
    ),
  );
}

/** A key by which a client found a license. */
interface PresentedKey {
  readonly key: string;
  readonly clientAddress: string;
}

/** The key may have been replaced between its look-up and the lock of the license. */
function requireCurrentKey(
  ctx: Context,
  license: LicenseRecord,
  { key, clientAddress }: PresentedKey,
): void {
  if (isKeyOf(ctx, license, key)) return;
  noteUnknownKey(ctx, clientAddress);
  throw refuse(ctx, 'license_lookup', licenseNotFound());
}

async function takeSlot(
  ctx: Context,
  client: Queryable,
  license: LicenseRecord,
  machine: PresentedMachine,
  installId: string | null,
): Promise<Activation> {
  const now = ctx.clock.now();
  const { status, known } = await decideSlot(ctx, client, license, machine, now);
  const countsAsMove = known === null && (await admitMachine(ctx, client, license, machine, now));
  const terms = await readTerms(client, ctx.catalog(), license);
  const slot = {
    id: known?.id ?? makeUuid(),
    machineId: machine.machineId ?? known?.machineId ?? null,
    entitlementProof: known?.entitlementProof ?? null,
  };
  const entitlement = issueEntitlement(ctx, license, terms, status, slot, now);
  const change = {
    ...machine,
    licenseId: license.id,
    id: slot.id,
    installId,
    entitlementProof: entitlement.newProof ?? slot.entitlementProof,
  };
  if (known === null) await addActivation(ctx, client, license, change, countsAsMove, now);
  else await refreshActivation(client, change, now);
  const expiresAt = publicExpiry(license, now);
  return { activationId: slot.id, status, expiresAt, terms, token: entitlement.token };
}

async function addActivation(
  ctx: Context,
  client: Queryable,
  license: LicenseRecord,
  change: ActivationChange,
  countsAsMove: boolean,
  now: Date,
): Promise<void> {
  await insertActivation(client, change, now, countsAsMove);
  const details = { activation_id: change.id };
  await recordEvents(ctx, client, [{ type: 'activation.added', license, details }], now);
}

/** Which slot the machine gets: the one that it holds already, or a new one (null). */
async function decideSlot(
  ctx: Context,
  client: Queryable,
  license: LicenseRecord,
  { identity, olderIdentities }: PresentedMachine,
  now: Date,
): Promise<{ status: UsableStatus; known: ActivationRecord | null }> {
  const activeCount = await countActiveActivations(client, license.id);
  // A row hashed under a previous master secret can only agree with the identity under the same one.
  const relatives: ActivationRecord[] = [];
  let decision: ActivationDecision | null = null;
  for (const presented of [identity, ...olderIdentities]) {
    const found = await listActiveRelatives(client, license.id, presented);
    const candidates = found.map(({ id, identity: stored }) => ({
      activationId: id,
      identity: stored,
    }));
    relatives.push(...found);
    decision = decideActivation(license, activeCount, candidates, presented, now);
    if (decision.kind === 'again' || decision.kind === 'refused') break;
  }
  if (decision === null) throw new Error('a machine without an identity');
  switch (decision.kind) {
    case 'refused':
      throw refuse(ctx, 'activate', licenseNotUsable(decision.status));
    case 'limit':
      throw refuse(ctx, 'activate', activationLimitReached(decision.max, decision.current));
    case 'again': {
      const known = relatives.find(({ id }) => id === decision.activationId) ?? null;
      return { status: decision.status, known };
    }
    case 'new':
      return { status: decision.status, known: null };
  }
}
