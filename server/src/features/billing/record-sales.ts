import type { Queryable } from '#server/db/statement.ts';

import type { ApplyDependencies } from './dependencies.ts';
import { insertSales, type NewSale } from './queries/sales.ts';
import { nameSale, toSale } from './rules/find-sale.ts';
import type { ExistingLicense } from './rules/plan-licenses.ts';

/** A line of a purchase that has a license. */
export type CreatedLine = Pick<ExistingLicense, 'purchase' | 'draft' | 'line'>;

/** Records what was sold, unless it is recorded: later changes of the catalogue are for new sales. */
export async function recordSales(
  { clock }: ApplyDependencies,
  client: Queryable,
  created: readonly CreatedLine[],
  existing: readonly ExistingLicense[],
): Promise<void> {
  const soldAt = clock.now();
  const adopted = existing.flatMap(({ adopted: license, line, baseSale }) => {
    const sale = license === undefined ? baseSale : toSale(license);
    const { licenseId } = line;
    return sale === undefined ? [] : [{ ...sale, licenseId, total: null, currency: null, soldAt }];
  });
  const sales = [...created, ...existing].flatMap((each) => toNewSale(each, soldAt) ?? []);
  if (adopted.length + sales.length > 0) await insertSales(client, [...adopted, ...sales]);
}

function toNewSale({ purchase, draft, line }: CreatedLine, soldAt: Date): NewSale | null {
  const { product, total } = draft;
  const priceId = nameSale(draft.priceId, line);
  if (product === null || line.sales?.some((sale) => sale.priceId === priceId)) return null;
  const { id: productId, maxActivations: machines, durationDays, endsAt, quantityAs } = product;
  const currency = purchase.facts.payments.findLast((each) => each.currency)?.currency ?? null;
  return {
    licenseId: line.licenseId,
    priceId,
    productId,
    machines,
    ...(quantityAs === undefined ? {} : { quantityAs }),
    durationDays,
    updatesDays: product.updatesDays ?? null,
    hasFixedEnd: endsAt !== undefined,
    endsAt: endsAt ?? null,
    total,
    currency,
    soldAt,
  };
}
