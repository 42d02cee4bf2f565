import type { Queryable } from '#server/db/statement.ts';

import {
  deleteLicenseTransactions,
  upsertLicenseTransactions,
  type LicenseOrigin,
} from '../licenses/queries/license-transactions.ts';
import type { MadeLicense } from './rules/plan-licenses.ts';

type Recorded = Pick<MadeLicense, 'draft' | 'line'>;

/**
 * Lets `check` find licenses by the id that the front end knows, and by no other: not by one that can be guessed, nor by
 * the transaction that one was made under while the checkout was not known.
 * @param made one or more
 */
export async function recordCheckoutIds(
  client: Queryable,
  made: readonly Recorded[],
): Promise<void> {
  await upsertLicenseTransactions(
    client,
    made.map((each) => toOrigin(each, each.draft.checkoutId)),
  );
  const former = made.flatMap((each) =>
    [each.draft.transactionId, each.line.transactionId]
      .filter((id) => id !== each.draft.checkoutId)
      .map((id) => toOrigin(each, id)),
  );
  if (former.length > 0) await deleteLicenseTransactions(client, former);
}

function toOrigin({ draft, line }: Recorded, transactionId: string): LicenseOrigin {
  return { transactionId, licenseId: line.licenseId, position: draft.position };
}
