import type { Queryable } from '#server/db/statement.ts';

import type { ApplyDependencies } from './dependencies.ts';
import { findPurchases } from './find-purchases.ts';
import { findRenewedLicenses } from './find-renewed.ts';
import { listBilledLines, listSharedTransactions } from './queries/purchases.ts';
import type { RareRows } from './queries/rare-rows.ts';
import type { Purchase } from './rules/group-purchases.ts';
import { listTransactions, toTransactionName, type BilledLine } from './rules/plan-licenses.ts';
import type { RenewedLicenses } from './rules/plan-renewals.ts';

/** What the licenses of purchases depend on. */
export interface SharedPurchases {
  readonly purchases: readonly Purchase[];
  readonly lines: readonly BilledLine[];
  readonly renewed: RenewedLicenses;
}

/** Each round finds the purchases that share a license with those of the round before. */
const MAX_ROUNDS = 5;

/** Adds the purchases that share a license with the given ones, because a purchase renews it. */
export async function addSharing(
  deps: ApplyDependencies,
  client: Queryable,
  changed: readonly Purchase[],
  rare: Pick<RareRows, 'renewals'>,
): Promise<SharedPurchases> {
  const purchases = [...changed];
  for (let round = 1; ; round += 1) {
    const lines = await listBilledLines(client, purchases.flatMap(listTransactions));
    const renewed = await findRenewedLicenses(deps, client, purchases, lines);
    const named = [...renewed.values()].flatMap((license) => license?.licenseId ?? []);
    const ids = rare.renewals ? [...new Set(lines.map(({ licenseId }) => licenseId))] : [];
    if (named.length + ids.length === 0) return { purchases, lines, renewed };
    const shared = await listSharedTransactions(client, named, ids);
    const known = new Set(purchases.flatMap(listTransactions).map(toTransactionName));
    const missing = shared.filter(
      ({ provider, id }) => !known.has(toTransactionName({ provider, transactionId: id })),
    );
    if (missing.length === 0 || round === MAX_ROUNDS) return { purchases, lines, renewed };
    const knownEvents = new Set(purchases.flatMap(listEventNames));
    const found = (await findPurchases(deps, client, missing)).filter(
      (purchase) => !listEventNames(purchase).some((name) => knownEvents.has(name)),
    );
    if (found.length === 0) return { purchases, lines, renewed };
    purchases.push(...found);
  }
}

function listEventNames({ facts: { provider }, eventIds }: Purchase): string[] {
  return [...eventIds].map((eventId) => `${provider} ${eventId}`);
}
