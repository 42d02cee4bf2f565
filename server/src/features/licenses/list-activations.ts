import type { MachineInfo } from '@latchkey/contract';

import { toMachineKey } from '../usage/machine-key.ts';
import { listLastUses, type LastUse } from '../usage/queries.ts';
import type { LicenseDependencies } from './dependencies.ts';
import { requireByKey } from './find-license.ts';
import { listActivationsOf, type ActivationRecord } from './queries/activations.ts';

/** The maximum length of the list. */
const MAX_LISTED = 1_000;

const NO_USES: ReadonlyMap<string, LastUse> = new Map();

/**
 * Lists the machines of a license, active ones first.
 * @throws licenseNotFound (404)
 */
export async function listActivations(
  deps: LicenseDependencies,
  licenseKey: string,
  clientAddress: string,
): Promise<MachineInfo[]> {
  const { license } = await requireByKey(deps, licenseKey, null, clientAddress);
  return deps.databaseLimiter.run(async () => {
    const activations = await listActivationsOf(deps.pool, license.id, MAX_LISTED);
    const uses = await listLastUsesOf(deps, activations);
    return activations.map((activation, index) => toMachineInfo(activation, uses[index] ?? null));
  });
}

/** Returns the last heartbeat of the machine of each activation, in their order; null: there was none. */
export async function listLastUsesOf(
  { pool, vault }: Pick<LicenseDependencies, 'pool' | 'vault'>,
  activations: readonly ActivationRecord[],
): Promise<(LastUse | null)[]> {
  const keys = activations.map(({ machineId }) =>
    machineId === null ? null : toMachineKey(vault, machineId),
  );
  const known = keys.filter((key) => key !== null);
  const uses = known.length === 0 ? NO_USES : await listLastUses(pool, known);
  return keys.map((key) => uses.get(key ?? '') ?? null);
}

/** Returns the versions reported last: with the last activation, or with a heartbeat since. */
function toMachineInfo(activation: ActivationRecord, lastUse: LastUse | null): MachineInfo {
  const isNewer = lastUse !== null && lastUse.lastAt >= activation.versionsReportedAt;
  const use = isNewer ? lastUse : null;
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
