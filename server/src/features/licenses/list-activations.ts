import type { MachineInfo } from '@latchkey/contract';

import type { Context } from '#server/context.ts';

import { requireByKey } from './find-license.ts';
import { listActivationsOf, type ActivationRecord } from './queries/activations.ts';

/** A license with more machines than this is managed by its vendor, not from a list. */
const MAX_LISTED = 1_000;

/**
 * The machines of a license, those that hold a slot first.
 * @throws licenseNotFound (404)
 */
export async function listActivations(
  ctx: Context,
  licenseKey: string,
  clientAddress: string,
): Promise<MachineInfo[]> {
  const { license } = await requireByKey(ctx, licenseKey, null, clientAddress);
  const activations = await ctx.gate.run(() => listActivationsOf(ctx.pool, license.id, MAX_LISTED));
  return activations.map(toMachineInfo);
}

function toMachineInfo(activation: ActivationRecord): MachineInfo {
  return {
    machine_id: activation.machineId ?? activation.identity.digest,
    os_version: activation.osVersion,
    app_version: activation.appVersion,
    last_validated_at: activation.lastValidatedAt.toISOString(),
    validation_count: activation.validationCount,
    is_active: activation.deactivatedAt === null,
    activation_id: activation.id,
    activated_at: activation.activatedAt.toISOString(),
  };
}
