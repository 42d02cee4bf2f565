import type { BillingLine } from '../facts.ts';
import type { PurchaseFacts } from './group-purchases.ts';
import type { LinePayment } from './paid-through.ts';
import type { TrackedLine } from './track-lines.ts';

/**
 * Finds the payments of each line of a subscription, oldest first. A line of a payment matches by its id or price, else, for a
 * purchase or renewal, by its place. A payment without lines pays all of them.
 */
export function assignPayments(
  { payments }: PurchaseFacts,
  tracked: readonly TrackedLine[],
): ReadonlyMap<TrackedLine, readonly LinePayment[]> {
  const assigned = new Map<TrackedLine, LinePayment[]>(tracked.map((line) => [line, []]));
  for (const payment of payments) {
    if (payment.lines.length === 0) {
      for (const own of assigned.values()) own.push({ payment, line: null });
      continue;
    }
    const recurring = payment.lines.filter(({ cycle }) => cycle !== null);
    const isChange = payment.origin === 'change' || payment.origin === 'other';
    for (const [line, match] of matchLines(tracked, recurring, !isChange)) {
      assigned.get(line)?.push({ payment, line: match });
    }
  }
  return assigned;
}

function matchLines(
  tracked: readonly TrackedLine[],
  lines: readonly BillingLine[],
  mayMatchByPlace: boolean,
): ReadonlyMap<TrackedLine, BillingLine> {
  const matches = new Map<TrackedLine, BillingLine>();
  const open = new Set(lines);
  const match = (isMatch: (line: TrackedLine, paid: BillingLine) => boolean): void => {
    for (const line of tracked) {
      if (matches.has(line)) continue;
      const paid = [...open].find((each) => isMatch(line, each));
      if (paid === undefined) continue;
      matches.set(line, paid);
      open.delete(paid);
    }
  };
  match(({ history }, { lineId }) => history.some((each) => each.lineId === lineId));
  match(({ history }, { priceId }) => history.at(-1)?.priceId === priceId);
  match(({ history }, { priceId }) => history.some((each) => each.priceId === priceId));
  if (mayMatchByPlace) match(({ removedAt }) => removedAt === null);
  return matches;
}
