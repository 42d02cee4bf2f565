import { inTransaction } from '#server/db/transaction.ts';
import type { Vault } from '#server/lib/vault.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { subscriberIdOf } from './address-hash.ts';
import {
  changeAddress,
  type ManualChange,
  type ManualChangeDependencies,
} from './change-address.ts';
import { deleteSuppression, insertSuppression, lockAddress } from './queries/suppressions.ts';

/** Also the id of the master secret, to determine under which one a row is stored. */
interface LiftDependencies extends ManualChangeDependencies {
  readonly vault: ManualChangeDependencies['vault'] & Pick<Vault, 'secretId'>;
}

/** Suppresses newsletter and outreach for an address until an operator lifts the suppression. */
export async function suppressManually(
  deps: ManualChangeDependencies,
  change: ManualChange,
): Promise<void> {
  await changeAddress(deps, change, async (db, { addressHash, now }) => {
    await insertSuppression(db, { addressHash, reason: 'by_hand', suppressedAt: now });
    return { action: 'suppression.add', details: {} };
  });
}

/** Lifts the suppression with a hash, of an address that is not stored; returns false when there was none. */
export async function liftByHash(
  { clock, pool, vault }: LiftDependencies,
  addressHash: string,
  { actor, reason }: Omit<ManualChange, 'email'>,
): Promise<boolean> {
  // The audit entry has the id under the master secret that the row is stored under.
  const hashes = [vault, ...vault.previous].find(({ secretId }) =>
    addressHash.startsWith(secretId),
  );
  const subjectId = subscriberIdOf(hashes ?? vault, addressHash);
  return inTransaction(pool, async (db) => {
    await lockAddress(db, addressHash);
    const lifted = await deleteSuppression(db, addressHash);
    if (!lifted) return false;
    const entry = { action: 'suppression.remove', subjectId, details: {}, actor, reason };
    await insertAuditEntry(db, { ...entry, occurredAt: clock.now() });
    return true;
  });
}

/** Lifts the suppression of an address, whatever its reason; returns false when there was none. */
export async function liftManually(
  deps: ManualChangeDependencies,
  change: ManualChange,
): Promise<boolean> {
  const { entry } = await changeAddress(deps, change, async (db, { addressHash }) => {
    const lifted = await deleteSuppression(db, addressHash);
    return lifted ? { action: 'suppression.remove', details: {} } : null;
  });
  return entry !== null;
}
