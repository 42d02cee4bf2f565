import type { Machine } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { Vault } from '#server/lib/vault.ts';

import { licenseStatus } from '../licenses/rules/status.ts';
import { toMachineKey } from '../usage/machine-key.ts';
import {
  findFirstDay,
  listActivationsOfMachine,
  listMachineDays,
  type MachineActivation,
  type MachineDay,
} from './queries/machines.ts';

/** Shows a machine: its activations on all licenses, and its days of use. */
export async function showMachine(
  { clock, pool, vault }: { readonly pool: Pool; readonly clock: Clock; readonly vault: Vault },
  id: string,
): Promise<Machine> {
  const keys = [vault, ...vault.previous].map((hashes) => toMachineKey(hashes, id));
  const now = clock.now();
  const activations = await listActivationsOfMachine(pool, id);
  return {
    id,
    activations: activations.map((activation) => viewActivation(activation, now)),
    days: (await listMachineDays(pool, keys)).map(viewDay),
    first_day: await findFirstDay(pool, keys),
  };
}

function viewActivation(activation: MachineActivation, now: Date): Machine['activations'][number] {
  return {
    license_id: activation.id,
    activation_id: activation.activationId,
    product_id: activation.productId,
    trial: activation.trial,
    status: licenseStatus(activation, now),
    customer_email: activation.customerEmail,
    install_id: activation.installId,
    is_active: activation.isActive,
    os_version: activation.osVersion,
    app_version: activation.appVersion,
    activated_at: activation.activatedAt.toISOString(),
    last_seen_at: activation.lastSeenAt.toISOString(),
  };
}

function viewDay({ appVersion, beats, day, firstAt, lastAt, osVersion }: MachineDay) {
  return {
    day,
    beats,
    first_at: firstAt.toISOString(),
    last_at: lastAt.toISOString(),
    app_version: appVersion,
    os_version: osVersion,
  };
}
