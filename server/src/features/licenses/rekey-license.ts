import { randomBytes } from 'node:crypto';

import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { licenseNotFound } from '#server/errors.ts';
import { generateLicenseKey } from '#server/lib/license-key.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { recordEvents, type LicenseEvent } from '../outgoing-webhooks/record-events.ts';
import { hasKey } from './added-keys.ts';
import { lockVersion, type ManualChange } from './change-license.ts';
import type { LicenseChangeDependencies } from './dependencies.ts';
import { deleteAddedKeysOfLicense } from './queries/added-keys.ts';
import { countActiveActivations, deactivateAllActivations } from './queries/activations.ts';
import { refreshLicenseActivity } from './queries/license-activity.ts';
import { deleteKeysOfLicense, insertLicenseKey } from './queries/license-keys.ts';
import { updateLicenseKey, type LicenseRecord } from './queries/licenses.ts';
import { resolveLicenseId } from './find-license.ts';
import { sealLicenseKey } from './license-key.ts';

/** A manual replacement of the key of a license. */
export interface RekeyRequest extends ManualChange {
  /** Whether activations stay active under the new key; otherwise all are deactivated. */
  readonly keepMachines: boolean;
}

/** A license with its new key. */
export interface RekeyedLicense {
  readonly license: LicenseRecord;
  readonly licenseKey: string;
  /** The number of active machines that were kept or deactivated. */
  readonly machines: number;
}

/**
 * Replaces the keys of a license by one, in one transaction, with an audit row and an event for outgoing webhooks. Every
 * old key is unknown from the commit on; offline tokens contain no key and stay valid until they expire. A concurrent
 * activation with the old key completes before, or is refused.
 * @param afterRekey runs in the same transaction
 * @throws licenseNotFound, also when the given key was replaced concurrently
 */
export async function rekeyLicense(
  deps: LicenseChangeDependencies,
  request: RekeyRequest,
  afterRekey: (db: Queryable, rekeyed: RekeyedLicense) => Promise<void>,
): Promise<RekeyedLicense> {
  const id = await resolveLicenseId(deps, request.keyOrId);
  if (id === null) throw licenseNotFound();
  return inTransaction(deps.pool, async (client) => {
    const before = await lockVersion(client, id, request.expectedVersion);
    if (!(await isIdOrKeyOf(deps, client, before, request.keyOrId))) throw licenseNotFound();
    const now = deps.clock.now();
    const { license, licenseKey } = await replaceKey(deps, client, before);
    const dropped = request.keepMachines ? [] : await deactivateAllActivations(client, id, now);
    const kept = await countActiveActivations(client, id);
    const rekeyed = { license, licenseKey, machines: request.keepMachines ? kept : dropped.length };
    if (dropped.length > 0) await refreshLicenseActivity(client, [id]);
    await recordEvents(deps, client, toEvents(before, license, dropped), now);
    await afterRekey(client, rekeyed);
    await insertAuditEntry(client, {
      occurredAt: now,
      actor: request.actor,
      action: 'license.rekey',
      subjectId: id,
      reason: request.reason,
      details: {
        previous_key_hint: before.keyHint,
        key_hint: license.keyHint,
        machines_kept: kept,
        machines_dropped: dropped.length,
      },
    });
    return rekeyed;
  });
}

async function isIdOrKeyOf(
  deps: LicenseChangeDependencies,
  client: Queryable,
  license: LicenseRecord,
  keyOrId: string,
): Promise<boolean> {
  const isId = keyOrId.trim().toLowerCase() === license.id;
  return isId || hasKey(deps, client, license, keyOrId);
}

async function replaceKey(
  deps: LicenseChangeDependencies,
  client: Queryable,
  before: LicenseRecord,
): Promise<{ license: LicenseRecord; licenseKey: string }> {
  const { id } = before;
  const licenseKey = generateLicenseKey(deps.catalog().keyPrefix, randomBytes);
  const { keyHash, ...sealed } = sealLicenseKey(deps, id, licenseKey);
  const license = { ...before, ...sealed };
  await deleteKeysOfLicense(client, id);
  await deleteAddedKeysOfLicense(client, id);
  await insertLicenseKey(client, { keyHash, licenseId: id });
  await updateLicenseKey(client, license);
  return { license, licenseKey };
}

function toEvents(
  before: LicenseRecord,
  license: LicenseRecord,
  dropped: readonly string[],
): LicenseEvent[] {
  const details = { previous_key_hint: before.keyHint };
  return [
    { type: 'license.key_replaced', license, details },
    ...dropped.map((activationId): LicenseEvent => ({
      type: 'activation.removed',
      license,
      details: { activation_id: activationId },
    })),
  ];
}
