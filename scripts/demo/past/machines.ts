import { PublicError } from '#server/errors.ts';
import { activateMachine } from '#server/features/licenses/activate.ts';
import { deactivateLicense } from '#server/features/licenses/deactivate.ts';
import { licenseKeyLabel } from '#server/features/licenses/license-key.ts';
import { readMachine } from '#server/features/licenses/read-machine.ts';

import { versionAt } from '../world/machines.ts';
import type { MachineUse, PlannedIssue, PlannedSale } from '../world/plan.ts';
import type { Action, StoredLicense, World } from './world.ts';

/** For the limits of requests, which count by client. */
const CLIENT = '198.51.100.7';

/** A machine of a license. */
export interface LicensedUse {
  readonly planned: PlannedSale | PlannedIssue;
  readonly use: MachineUse;
}

/** The machines of all licenses. */
export function listLicensedUses({ plans }: Pick<World, 'plans'>): LicensedUse[] {
  return [...plans.sales, ...plans.issues].flatMap((planned) =>
    planned.uses.map((use) => ({ planned, use })),
  );
}

/** The activations of machines. */
export function listActivations(world: World, uses: readonly LicensedUse[]): Action[] {
  return uses.map(({ planned, use }) => ({
    atMs: use.fromMs,
    run: () => activate(world, planned, use),
  }));
}

/** The machines that their owners freed. */
export function listFreedMachines(world: World, uses: readonly LicensedUse[]): Action[] {
  return uses
    .filter(({ use }) => use.isFreed && use.untilMs < world.nowMs)
    .map(({ planned, use }) => ({ atMs: use.untilMs, run: () => free(world, planned, use) }));
}

async function activate(
  { activations, context, licenses, nowMs }: World,
  planned: PlannedSale | PlannedIssue,
  use: MachineUse,
): Promise<void> {
  const license = licenses.get(planned)?.[0];
  if (license === undefined) return;
  const machine = readMachineOf(context, use, nowMs);
  await unlessRefused(async () => {
    const { installId } = use.machine;
    const { activationId } = await activateMachine(context, license.id, machine, installId, null);
    activations.set(use, { licenseId: license.id, id: activationId });
  });
}

/** Reads the fingerprint that a machine sends when it is activated. */
export function readMachineOf(
  { vault }: Pick<World['context'], 'vault'>,
  { fromMs, machine }: MachineUse,
  nowMs: number,
): ReturnType<typeof readMachine> {
  const version = versionAt(machine, fromMs, nowMs);
  return readMachine(vault, { ...machine.fingerprint, app_version: version });
}

/** Customers are refused, too: their license has ended, has too many machines, or has got another key. */
async function unlessRefused(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof PublicError) || error.status >= 500) throw error;
  }
}

async function free(
  { activations, context, licenses }: World,
  planned: PlannedSale | PlannedIssue,
  use: MachineUse,
): Promise<void> {
  const activation = activations.get(use);
  const license = licenses.get(planned)?.[0];
  if (activation === undefined || license === undefined) return;
  const request = {
    license_key: openKey(context, license),
    activation_id: activation.id,
    machine_id: use.machine.id,
  };
  await unlessRefused(() => deactivateLicense(context, request, CLIENT));
}

/** Returns the key of a license in plain text. */
export function openKey(
  { vault }: Pick<World['context'], 'vault'>,
  { id, keySealed }: StoredLicense,
): string {
  return vault.open(keySealed, licenseKeyLabel(id));
}
