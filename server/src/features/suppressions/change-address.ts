import type { Clock } from '#server/clock.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry, type AuditEntry } from '../audit/queries.ts';
import { hashAddress, subscriberIdOf } from './address-hash.ts';
import { lockAddress } from './queries/suppressions.ts';
import { rewriteAddresses, type AddressDependencies } from './stored-addresses.ts';

export interface ManualChangeDependencies extends AddressDependencies {
  readonly clock: Clock;
}

/** A change by an operator. */
export interface ManualChange {
  readonly email: string;
  readonly actor: string;
  readonly reason: string;
}

interface AddressChange {
  readonly addressHash: string;
  readonly now: Date;
}

type ChangeEntry = Pick<AuditEntry, 'action' | 'details'>;

/**
 * Changes the data of an address in a transaction that locks the address and writes the audit entry.
 * @param work returns the audit entry, or null when nothing changed
 */
export async function changeAddress<Entry extends ChangeEntry | null>(
  deps: ManualChangeDependencies,
  { email, actor, reason }: ManualChange,
  work: (db: Queryable, change: AddressChange) => Promise<Entry>,
): Promise<{ readonly id: string; readonly entry: Entry }> {
  const { clock, pool, vault } = deps;
  const addressHash = hashAddress(vault, email);
  const id = subscriberIdOf(vault, addressHash);
  const now = clock.now();
  await rewriteAddresses(deps, [email]);
  return inTransaction(pool, async (db) => {
    await lockAddress(db, addressHash);
    const entry = await work(db, { addressHash, now });
    if (entry !== null) {
      await insertAuditEntry(db, { ...entry, subjectId: id, occurredAt: now, actor, reason });
    }
    return { id, entry };
  });
}
