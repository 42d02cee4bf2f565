import type { Queryable } from '#server/db/statement.ts';

import type { IssuingContext } from '../licenses/create-billed.ts';
import { findBuyers } from './find-buyers.ts';
import { listBilledLines } from './queries/purchases.ts';
import type { Purchase } from './rules/group-purchases.ts';
import { listTransactions, planLicenses, type UnsoldPurchase } from './rules/plan-licenses.ts';
import {
  changeLicenses,
  createLicenses,
  type ChangedLicense,
  type SettledLicense,
} from './write-licenses.ts';

/** What has become of purchases. */
export interface SettledPurchases {
  readonly created: readonly SettledLicense[];
  readonly changed: readonly ChangedLicense[];
  readonly unsold: readonly UnsoldPurchase[];
}

/**
 * Makes the licenses of purchases what they are to be: creates those that are missing, changes those that differ, cancels
 * those whose line is no more.
 */
export async function settlePurchases(
  ctx: IssuingContext,
  client: Queryable,
  purchases: readonly Purchase[],
): Promise<SettledPurchases> {
  const lines = await listBilledLines(client, purchases.flatMap(listTransactions));
  const found = await findBuyers(client, purchases);
  const buyers = new Map(purchases.map((purchase, index) => [purchase, found[index]]));
  const catalog = ctx.catalog();
  const { missing, made, strays, unsold } = planLicenses(purchases, lines, (provider, priceId) =>
    catalog.findPrice(provider, priceId),
  );
  const created = await createLicenses(ctx, client, missing, buyers);
  const changed = await changeLicenses(ctx, client, { made, strays }, buyers);
  return { created, changed, unsold };
}
