import { SEAT_DAYS } from '../../imports/store-batch.ts';
import type { LicenseDependencies } from '../../licenses/dependencies.ts';
import {
  findSeatByInstance,
  recordSeatUse,
  type ImportedSeat,
} from '../../licenses/queries/imported-seats.ts';
import { findInstance, type InstanceRow } from '../queries/instances.ts';
import type { LemonSqueezyLicense } from './find-shown.ts';

const DAY_MS = 86_400_000;

/** Finds the active machine that a program names by its id, and counts its validation; null if there is none. */
export async function findCountedInstance(
  deps: LicenseDependencies,
  found: LemonSqueezyLicense,
  instanceId: string,
): Promise<InstanceRow | null> {
  const { license, activation } = found;
  if (activation === null) return findCountedSeat(deps, found, instanceId);
  if (activation.deactivatedAt !== null) return null;
  const isActive = await deps.batches.validationRecords.submit({
    licenseId: license.id,
    activationId: activation.id,
    installId: null,
    usageSharing: null,
    newProof: null,
    isCounted: false,
  });
  if (!isActive) return null;
  return deps.databaseLimiter.run(() => findInstance(deps.pool, license.id, activation.id));
}

/** A machine of the time before the license was imported. The seat counts for longer, so that its program loses it last. */
async function findCountedSeat(
  deps: LicenseDependencies,
  { license }: LemonSqueezyLicense,
  instanceId: string,
): Promise<InstanceRow | null> {
  const seat = await findFreeSeat(deps, license.id, instanceId);
  if (seat === null) return null;
  const now = deps.clock.now();
  const countsUntil = new Date(now.getTime() + SEAT_DAYS * DAY_MS);
  await deps.databaseLimiter.run(() => recordSeatUse(deps.pool, seat, now, countsUntil));
  return { id: instanceId, name: seat.label, createdAt: seat.lastSeenAt ?? license.createdAt };
}

/** Finds the seat of a machine by its id in the previous system, unless an activation took the seat over. */
export async function findFreeSeat(
  deps: LicenseDependencies,
  licenseId: string,
  instanceId: string,
): Promise<ImportedSeat | null> {
  const seat = await deps.databaseLimiter.run(() =>
    findSeatByInstance(deps.pool, licenseId, instanceId),
  );
  return seat?.activationId === null ? seat : null;
}
