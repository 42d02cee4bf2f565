import type { Queryable } from '#server/db/statement.ts';

import { listLicensesPaidElsewhere } from '../licenses/queries/license-names.ts';
import { explainEarlierPaidBack, listEarlierPaidBack } from './rules/find-earlier-paid-back.ts';
import type { Purchase } from './rules/group-purchases.ts';
import type { PurchaseProblem } from './rules/plan-licenses.ts';

/** Finds refunds and disputes of payments that paid a license before it was imported or issued. */
export async function findEarlierPaidBack(
  client: Queryable,
  purchases: readonly Purchase[],
): Promise<PurchaseProblem[]> {
  const open = listEarlierPaidBack(purchases);
  if (open.length === 0) return [];
  const transactions = open.map(({ purchase, adjustment }) => ({
    provider: purchase.facts.provider,
    transactionId: adjustment.transactionId,
  }));
  return explainEarlierPaidBack(open, await listLicensesPaidElsewhere(client, transactions));
}
