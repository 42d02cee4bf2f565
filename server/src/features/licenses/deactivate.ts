import type { LicenseDeactivate, LicenseDeactivateResponse } from '@latchkey/contract';

import { inTransaction } from '#server/db/transaction.ts';
import { activationNotFound, machineMismatch } from '#server/errors.ts';

import { recordEvents } from '../outgoing-webhooks/record-events.ts';
import type { LicenseDependencies } from './dependencies.ts';
import { refuse, requireByKey } from './find-license.ts';
import { deactivateActivation } from './queries/activations.ts';
import { findLicense } from './queries/licenses.ts';
import { decideDeactivation } from './rules/decide-validation.ts';

/**
 * Deactivates a machine, whatever the status of its license. Repeating it changes nothing.
 * @throws licenseNotFound, activationNotFound (404), machineMismatch (403)
 */
export async function deactivateLicense(
  deps: LicenseDependencies,
  request: LicenseDeactivate,
  clientAddress: string,
): Promise<LicenseDeactivateResponse> {
  const { license_key: licenseKey, activation_id: activationId, machine_id: machineId } = request;
  const { license, activation } = await requireByKey(deps, licenseKey, activationId, clientAddress);
  const decision = decideDeactivation(license, activation, machineId);
  if (decision === 'activation_not_found') throw refuse(deps, 'deactivate', activationNotFound());
  if (decision === 'machine_mismatch') throw refuse(deps, 'deactivate', machineMismatch());
  if (decision === 'already') {
    return toResponse(activationId, 'The activation was inactive already.');
  }
  const machine = { activationId, machineId };
  const isDeactivated = await deps.databaseLimiter.run(() => deactivate(deps, license.id, machine));
  // Bound or deactivated since it was read: decides again with the stored values.
  if (!isDeactivated) return deactivateLicense(deps, request, clientAddress);
  deps.licenseActivity.recordMachineChange(license.id);
  return toResponse(activationId, 'The activation was deactivated.');
}

/** Runs a single statement, unless an endpoint wants the event. */
async function deactivate(
  deps: LicenseDependencies,
  licenseId: string,
  { activationId, machineId }: { readonly activationId: string; readonly machineId: string },
): Promise<boolean> {
  const now = deps.clock.now();
  if (!(await deps.eventSubscriptions.has(deps.pool, 'activation.removed'))) {
    return deactivateActivation(deps.pool, licenseId, activationId, machineId, now);
  }
  return inTransaction(deps.pool, async (client) => {
    const isChanged = await deactivateActivation(client, licenseId, activationId, machineId, now);
    const license = isChanged ? await findLicense(client, licenseId) : null;
    if (license !== null) {
      const details = { activation_id: activationId.toLowerCase() };
      await recordEvents(deps, client, [{ type: 'activation.removed', license, details }], now);
    }
    return isChanged;
  });
}

function toResponse(activationId: string, message: string): LicenseDeactivateResponse {
  return { success: true, message, activation_id: activationId.toLowerCase() };
}
