import type { BillingCycle, BillingLine } from '../../facts.ts';
import { readAmount } from './amounts.ts';
import type { Cycle, Subscription, Transaction } from './schemas.ts';

const INTERVALS = ['day', 'week', 'month', 'year'] as const;
const MAX_FREQUENCY = 1_000;

/**
 * What was bought, in the order of the items, each with the id of its line item, by which refunds name it. Null when one of
 * them is paid in a way that is not known: taken for one that is paid once, it would make a license for ever.
 */
export function readTransactionLines({ items, details }: Transaction): BillingLine[] | null {
  const open = [...(details?.line_items ?? [])];
  const lines: BillingLine[] = [];
  for (const { price, quantity } of items) {
    const cycle = readCycle(price.billing_cycle);
    if (cycle === 'unknown') return null;
    const index = open.findIndex((lineItem) => lineItem.price_id === price.id);
    const [lineItem] = index < 0 ? [] : open.splice(index, 1);
    lines.push({
      lineId: lineItem?.id ?? price.id,
      priceId: price.id,
      quantity: quantity ?? 1,
      cycle,
      total: readAmount(lineItem?.totals?.total),
    });
  }
  return lines;
}

/**
 * What a subscription renews, in the order of its items; what was only charged once with it is not among it. Null when one
 * of them is paid in a way that is not known.
 */
export function readSubscriptionLines(subscription: Subscription): BillingLine[] | null {
  const lines: BillingLine[] = [];
  for (const { price, quantity, recurring } of subscription.items) {
    if (recurring === false) continue;
    const cycle = readCycle(price.billing_cycle ?? subscription.billing_cycle);
    if (cycle === 'unknown') return null;
    // Items have no id of their own.
    lines.push({
      lineId: price.id,
      priceId: price.id,
      quantity: quantity ?? 1,
      cycle,
      total: null,
    });
  }
  return lines;
}

function readCycle(cycle: Cycle | null | undefined): BillingCycle | null | 'unknown' {
  if (cycle == null) return null;
  const interval = INTERVALS.find((known) => known === cycle.interval);
  const { frequency } = cycle;
  if (interval === undefined || typeof frequency !== 'number') return 'unknown';
  const isCount = Number.isInteger(frequency) && frequency >= 1 && frequency <= MAX_FREQUENCY;
  return isCount ? { interval, frequency } : 'unknown';
}
