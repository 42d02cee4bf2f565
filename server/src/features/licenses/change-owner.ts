import { inTransaction } from '#server/db/transaction.ts';
import { licenseNotFound } from '#server/errors.ts';
import { emptyToNull } from '#server/lib/text.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { lockVersion, type ManualChange } from './change-license.ts';
import type { LicenseChangeDependencies } from './dependencies.ts';
import { resolveLicenseId } from './find-license.ts';
import { updateOwner, type LicenseRecord } from './queries/licenses.ts';

/** The new customer and note of a license; undefined: unchanged, null: none. */
export interface OwnerChange {
  readonly customerEmail?: string | null | undefined;
  readonly customerName?: string | null | undefined;
  readonly note?: string | null | undefined;
}

/**
 * Changes the customer or the note of a license. From a change of the customer on, payments do not change the customer,
 * because they name the buyer. The audit entry names the changed fields without their values, which are personal data.
 * @throws licenseNotFound, LicenseVersionError
 */
export async function changeOwner(
  deps: LicenseChangeDependencies,
  change: ManualChange,
  owner: OwnerChange,
): Promise<LicenseRecord> {
  const id = await resolveLicenseId(deps, change.keyOrId);
  if (id === null) throw licenseNotFound();
  return inTransaction(deps.pool, async (client) => {
    const before = await lockVersion(client, id, change.expectedVersion);
    const now = deps.clock.now();
    const after = applyOwner(before, owner);
    const details = {
      email_changed: before.customerEmail !== after.customerEmail,
      name_changed: before.customerName !== after.customerName,
      note_changed: before.note !== after.note,
    };
    const isOwnerChanged = details.email_changed || details.name_changed;
    await updateOwner(client, after, isOwnerChanged ? now : null);
    await insertAuditEntry(client, {
      occurredAt: now,
      actor: change.actor,
      action: 'license.change_owner',
      subjectId: id,
      reason: change.reason,
      details,
    });
    return after;
  });
}

function applyOwner(license: LicenseRecord, owner: OwnerChange): LicenseRecord {
  const { customerEmail, customerName, note } = owner;
  return {
    ...license,
    customerEmail: customerEmail === undefined ? license.customerEmail : emptyToNull(customerEmail),
    customerName: customerName === undefined ? license.customerName : emptyToNull(customerName),
    note: note === undefined ? license.note : emptyToNull(note),
  };
}
