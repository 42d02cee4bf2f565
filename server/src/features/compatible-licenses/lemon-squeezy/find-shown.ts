import { isUuid } from '@latchkey/contract';

import { findOrigin } from '../../imports/queries/imported-licenses.ts';
import type { LicenseDependencies } from '../../licenses/dependencies.ts';
import { countActiveActivations } from '../../licenses/queries/activations.ts';
import { countFreeSeats } from '../../licenses/queries/imported-seats.ts';
import { findCompatible, type CompatibleLicense } from '../find-compatible.ts';
import type { ShownLicense } from './describe.ts';

/** What a program sent. */
export interface InstanceRequest {
  readonly key: string;
  /** The id of the program's machine; null: it sent none. */
  readonly instanceId: string | null;
  readonly network: string;
}

/** The license of a key. */
export type LemonSqueezyLicense = CompatibleLicense<'lemonSqueezy'>;

/**
 * Finds the license of a key, and its machine.
 * @returns null when the product of the license does not offer this interface
 * @throws licenseNotFound (404), or rateLimited (429) while the address is paused
 */
export function findByRequest(
  deps: LicenseDependencies,
  { key, instanceId, network }: InstanceRequest,
): Promise<LemonSqueezyLicense | null> {
  const activationId = instanceId !== null && isUuid(instanceId) ? instanceId.toLowerCase() : null;
  return findCompatible(deps, 'lemonSqueezy', { key, activationId, network });
}

/** Reads what the answers say of a license. */
export async function readShown(
  deps: LicenseDependencies,
  { license, product, offer }: LemonSqueezyLicense,
  key: string,
): Promise<ShownLicense> {
  const { pool, clock, databaseLimiter } = deps;
  const [activeMachines, freeSeats, origin] = await databaseLimiter.run(async () => [
    await countActiveActivations(pool, license.id),
    await countFreeSeats(pool, license.id, clock.now()),
    await findOrigin(pool, license.id),
  ]);
  const { customerEmail: email, customerName: name } = license;
  return {
    license,
    key: key.trim(),
    usedMachines: activeMachines + freeSeats,
    product: { name: product.name, ids: offer },
    createdAt: origin?.sourceCreatedAt ?? license.createdAt,
    foreignIds: origin?.source === 'lemonsqueezy' ? origin.details : {},
    customer: product.compatible.showsCustomer ? { name, email } : null,
  };
}
