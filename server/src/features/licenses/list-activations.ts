import type { MachineInfo } from '@latchkey/contract';

import type { Context } from '#server/context.ts';

import { toMachineKey } from '../usage/machine-key.ts';
import { listLastUses, type LastUse } from '../usage/queries.ts';
import { requireByKey } from './find-license.ts';
import { listActivationsOf, type ActivationRecord } from './queries/activations.ts';

/** Nobody manages a license with more machines than this from a list. */
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
  return ctx.databaseLimiter.run(async () => {
    const activations = await listActivationsOf(ctx.pool, license.id, MAX_LISTED);
    const keys = activations.map(({ machineId }) => keyOf(ctx, machineId));
    const told = keys.filter((key) => key !== null);
    const uses = told.length === 0 ? NO_USES : await listLastUses(ctx.pool, told);
    return activations.map((activation, index) =>
      toMachineInfo(activation, uses.get(keys[index] ?? '')),
    );
  });
}

const NO_USES: ReadonlyMap<string, LastUse> = new Map();

function keyOf(ctx: Context, machineId: string | null): string | null {
  return machineId === null ? null : toMachineKey(ctx.vault, machineId);
}

/** The versions are those told last: with the last activation, or with a heartbeat since. */
function toMachineInfo(activation: ActivationRecord, lastUse: LastUse | undefined): MachineInfo {
  const use =
    lastUse !== undefined && lastUse.lastAt >= activation.versionsReportedAt ? lastUse : null;
  return {
    machine_id: activation.machineId ?? activation.identity.digest,
    os_version: use?.osVersion ?? activation.osVersion,
    app_version: use?.appVersion ?? activation.appVersion,
    last_validated_at: activation.lastValidatedAt.toISOString(),
    validation_count: activation.validationCount,
    is_active: activation.deactivatedAt === null,
    activation_id: activation.id,
    activated_at: activation.activatedAt.toISOString(),
  };
}
