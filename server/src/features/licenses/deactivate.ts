import type { LicenseDeactivate, LicenseDeactivateResponse } from '@latchkey/contract';

import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';
import {
  activationNotFound,
  licenseNotFound,
  machineMismatch,
  type PublicError,
} from '#server/errors.ts';

import { recordEvents } from '../outgoing-webhooks/record-events.ts';
import { refuse, requireByKey } from './find-license.ts';
import { deactivateActivation } from './queries/activations.ts';
import { findLicense } from './queries/licenses.ts';
import { decideDeactivation, type DeactivationDecision } from './rules/decide-validation.ts';

type RefusalCode = Extract<DeactivationDecision, { kind: 'refused' }>['code'];

/**
 * Frees the slot of an activation, whatever the status of its license; doing so again changes nothing.
 * @throws licenseNotFound, activationNotFound (404), machineMismatch (403)
 */
export async function deactivateLicense(
  ctx: Context,
  request: LicenseDeactivate,
  clientAddress: string,
): Promise<LicenseDeactivateResponse> {
  const { license_key: licenseKey, activation_id: activationId, machine_id: machineId } = request;
  const { license, activation } = await requireByKey(ctx, licenseKey, activationId, clientAddress);
  const decision = decideDeactivation(license, activation, machineId);
  if (decision.kind === 'refused') throw refuse(ctx, 'deactivate', toError(decision.code));
  if (decision.kind === 'already')
    return answer(activationId, 'The activation was inactive already.');
  const now = ctx.clock.now();
  const freed = await ctx.databaseLimiter.run(() =>
    freeSlot(ctx, license.id, { activationId, machineId }, now),
  );
  // Bound or freed by somebody else since it was read: decide again on what holds now.
  if (!freed) return deactivateLicense(ctx, request, clientAddress);
  return answer(activationId, 'The activation was deactivated.');
}

/** A single statement, unless an endpoint wants to be told. */
async function freeSlot(
  ctx: Context,
  licenseId: string,
  { activationId, machineId }: { readonly activationId: string; readonly machineId: string },
  now: Date,
): Promise<boolean> {
  if (!(await ctx.wantedEvents.has(ctx.pool, 'activation.removed'))) {
    return deactivateActivation(ctx.pool, licenseId, activationId, machineId, now);
  }
  return inTransaction(ctx.pool, async (client) => {
    const freed = await deactivateActivation(client, licenseId, activationId, machineId, now);
    const license = freed ? await findLicense(client, licenseId) : null;
    if (license !== null) {
      const details = { activation_id: activationId.toLowerCase() };
      await recordEvents(ctx, client, [{ type: 'activation.removed', license, details }], now);
    }
    return freed;
  });
}

function answer(activationId: string, message: string): LicenseDeactivateResponse {
  return { success: true, message, activation_id: activationId.toLowerCase() };
}

function toError(code: RefusalCode): PublicError {
  switch (code) {
    case 'license_not_found':
      return licenseNotFound();
    case 'activation_not_found':
      return activationNotFound();
    case 'machine_mismatch':
      return machineMismatch();
  }
}
