import type { LicenseActivate, LicenseActivateResponse } from '@latchkey/contract';
import { v7 as makeUuid } from 'uuid';

import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';
import type { Queryable } from '#server/db/statement.ts';
import { activationLimitReached, licenseNotFound, licenseNotUsable } from '#server/errors.ts';

import { entitle, type Entitlement } from './entitle.ts';
import { refuse, requireByKey } from './find-license.ts';
import {
  insertActivation,
  listActiveActivations,
  refreshActivation,
  type ActivationRecord,
} from './queries/activations.ts';
import { lockLicense, type LicenseRecord } from './queries/licenses.ts';
import { readMachine, type PresentedMachine } from './read-machine.ts';
import { decideActivation } from './rules/decide-activation.ts';
import { isUsable, licenseStatus, publicExpiry } from './rules/status.ts';
import { readTerms, type LicenseTerms } from './terms.ts';

/** A machine that holds a slot now. */
export interface Activation {
  readonly license: LicenseRecord;
  readonly terms: LicenseTerms;
  readonly activationId: string;
  readonly token: string;
  /** False when the machine held its slot already. */
  readonly isNew: boolean;
}

/**
 * Gives a machine a slot of a license, or gives it back the slot that it holds.
 * @throws InvalidRequestError (422) for a fingerprint that is empty or too large
 * @throws licenseNotFound, licenseNotUsable, activationLimitReached
 */
export async function activateLicense(
  ctx: Context,
  request: LicenseActivate,
  clientAddress: string,
): Promise<LicenseActivateResponse> {
  const machine = readMachine(ctx.vault, request.machine_fingerprint);
  const { license } = await requireByKey(ctx, request.license_key, null, clientAddress);
  const activation = await activateMachine(ctx, license.id, machine, request.install_id ?? null);
  const now = ctx.clock.now();
  return {
    activation_id: activation.activationId,
    expires_at: publicExpiry(activation.license, now)?.toISOString() ?? null,
    features: [...activation.terms.features],
    tier: activation.terms.tier,
    status: licenseStatus(activation.license, now),
    entitlement: activation.token,
  };
}

/**
 * Takes a slot in a short transaction that locks the one license, so that however many machines ask at once the limit
 * holds. Callers for one license stand in line before they take a connection.
 */
export async function activateMachine(
  ctx: Context,
  licenseId: string,
  machine: PresentedMachine,
  installId: string | null,
): Promise<Activation> {
  return ctx.licenseQueue.run(licenseId, () =>
    ctx.gate.run(() =>
      inTransaction(ctx.pool, async (client) => {
        const license = await lockLicense(client, licenseId);
        if (license === null) throw licenseNotFound();
        return takeSlot(ctx, client, license, machine, installId);
      }),
    ),
  );
}

async function takeSlot(
  ctx: Context,
  client: Queryable,
  license: LicenseRecord,
  machine: PresentedMachine,
  installId: string | null,
): Promise<Activation> {
  const now = ctx.clock.now();
  const active = await listActiveActivations(client, license.id);
  const known = findSlot(ctx, license, active, machine, now);
  const terms = await readTerms(client, ctx.catalog(), license);
  const slot = {
    id: known?.id ?? makeUuid(),
    machineId: machine.machineId ?? known?.machineId ?? null,
    entitlementProof: known?.entitlementProof ?? null,
  };
  const entitlement = entitleHolder(ctx, license, terms, slot, now);
  const change = {
    ...machine,
    licenseId: license.id,
    id: slot.id,
    installId,
    entitlementProof: entitlement.freshProof ?? slot.entitlementProof,
  };
  if (known === null) await insertActivation(client, change, now);
  else await refreshActivation(client, change);
  const isNew = known === null;
  return { license, terms, activationId: slot.id, token: entitlement.token, isNew };
}

/** The slot that the machine holds already, or null for a new one. */
function findSlot(
  ctx: Context,
  license: LicenseRecord,
  active: readonly ActivationRecord[],
  machine: PresentedMachine,
  now: Date,
): ActivationRecord | null {
  const holders = active.map(({ id, identity }) => ({ activationId: id, identity }));
  const decision = decideActivation(license, holders, machine.identity, now);
  switch (decision.kind) {
    case 'refused':
      throw refuse(ctx, 'activate', licenseNotUsable(decision.status));
    case 'limit':
      throw refuse(ctx, 'activate', activationLimitReached(decision.max, decision.current));
    case 'again':
      return active.find(({ id }) => id === decision.activationId) ?? null;
    case 'new':
      return null;
  }
}

function entitleHolder(
  ctx: Context,
  license: LicenseRecord,
  terms: LicenseTerms,
  slot: { id: string; machineId: string | null; entitlementProof: string | null },
  now: Date,
): Entitlement {
  const status = licenseStatus(license, now);
  if (!isUsable(status)) throw new Error('a slot was taken of a license that is not usable');
  return entitle(ctx, license, terms, status, slot, now);
}
