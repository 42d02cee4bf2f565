import type { LicenseDependencies } from '../../licenses/dependencies.ts';
import { deactivateLicense } from '../../licenses/deactivate.ts';
import { deleteFreeSeat } from '../../licenses/queries/imported-seats.ts';
import type { Answer } from '../answer.ts';
import { answer, refuse, refuseUnknownKey } from './answer.ts';
import { INSTANCE_NOT_FOUND } from './describe.ts';
import { findFreeSeat } from './find-instance.ts';
import {
  findByRequest,
  readShown,
  type InstanceRequest,
  type LemonSqueezyLicense,
} from './find-shown.ts';

/** A request that names a machine. */
type NamedInstance = InstanceRequest & { readonly instanceId: string };

/**
 * Deactivates a machine, whatever the status of its license.
 * @throws licenseNotFound (404), rateLimited (429)
 */
export async function deactivateInstance(
  deps: LicenseDependencies,
  request: NamedInstance,
): Promise<Answer> {
  const found = await findByRequest(deps, request);
  if (found === null) return refuseUnknownKey('deactivated');
  const isDeactivated =
    found.activation === null
      ? await releaseSeat(deps, found, request)
      : await deactivate(deps, found.activation, request);
  const shown = await readShown(deps, found, request.key);
  const now = deps.clock.now();
  return isDeactivated
    ? answer('deactivated', shown, undefined, now)
    : refuse('deactivated', INSTANCE_NOT_FOUND, shown, now, 404);
}

/** Returns false if the machine is inactive. */
async function deactivate(
  deps: LicenseDependencies,
  activation: NonNullable<LemonSqueezyLicense['activation']>,
  { key, network }: NamedInstance,
): Promise<boolean> {
  if (activation.deactivatedAt !== null) return false;
  // The machine's own id proves nothing more than the key and the activation do, and programs do not know it.
  const machine = { activation_id: activation.id, machine_id: activation.machineId ?? '' };
  await deactivateLicense(deps, { license_key: key, ...machine }, network);
  return true;
}

async function releaseSeat(
  deps: LicenseDependencies,
  { license }: LemonSqueezyLicense,
  { instanceId }: NamedInstance,
): Promise<boolean> {
  const seat = await findFreeSeat(deps, license.id, instanceId);
  return seat !== null && (await deps.databaseLimiter.run(() => deleteFreeSeat(deps.pool, seat)));
}
