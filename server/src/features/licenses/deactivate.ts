import type { LicenseDeactivate, LicenseDeactivateResponse } from '@latchkey/contract';

import type { Context } from '#server/context.ts';
import {
  activationNotFound,
  licenseNotFound,
  machineMismatch,
  type PublicError,
} from '#server/errors.ts';

import { refuse, requireByKey } from './find-license.ts';
import { deactivateActivation } from './queries/activations.ts';
import { decideDeactivation, type DeactivationDecision } from './rules/decide-deactivation.ts';

type RefusalCode = Extract<DeactivationDecision, { kind: 'refused' }>['code'];

/**
 * Frees the slot of an activation, whatever the state of its license; doing it again changes nothing.
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
  const freed = await ctx.gate.run(() =>
    deactivateActivation(ctx.pool, license.id, activationId, machineId, now),
  );
  // Bound or freed by somebody else since it was read: what holds now decides.
  if (!freed) return deactivateLicense(ctx, request, clientAddress);
  return answer(activationId, 'The activation was deactivated.');
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
