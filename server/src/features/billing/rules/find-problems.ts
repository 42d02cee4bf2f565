import { compareOccurrences, type BillingLine } from '../facts.ts';
import { isRecurringKey, type FindProduct, type LicenseDraft } from './compute-licenses.ts';
import { canSell, isPlausible, MAX_KEYS } from './list-units.ts';
import { ATTENTION_PREFIX, UNMATCHED_PREFIX } from './event-state.ts';
import { findRefundedKeys } from './find-refunded-keys.ts';
import type { PurchaseFacts } from './group-purchases.ts';
import type { MergedPayment } from './merge-versions.ts';
import { findRefund } from './money-back.ts';
import { isIssued } from './issued.ts';
import { withoutRepaired } from './repairs.ts';
import { findPurchase, withoutSubscriptionOrders, type PaidLines } from './paid-lines.ts';
import { isReportedPeriod, type LinePayment } from './paid-through.ts';

/** Why a payment does not have all of its licenses, and the event that reported it. */
export interface Problem {
  readonly eventId: string;
  /** A sentence for operators: the cause and the repair. */
  readonly reason: string;
}

const MAX_PRICES = 5;

/**
 * Finds the payments of a purchase that do not have all of their licenses, at most one problem for each event. A payment
 * without a problem has its licenses, or was paid back, or is of nothing, or sells nothing that the catalogue has.
 * @param paid the lines of the subscription, which the licenses were computed from
 * @param isKept whether a line with this price has a license, whatever the catalogue contains
 */
export function findProblems(
  all: PurchaseFacts,
  drafts: readonly LicenseDraft[],
  paid: PaidLines,
  findProduct: FindProduct,
  isKept: (priceId: string) => boolean,
): Problem[] {
  const facts = withoutSubscriptionOrders(all);
  const isKnown = (priceId: string): boolean => findProduct(priceId) !== null || isKept(priceId);
  // Whether any line has a license.
  const isRunning = drafts.some(({ product, priceId }) => product !== null || isKept(priceId));
  const state = { drafts, findProduct, isKnown, isRunning, countAssigned: createCounter(paid) };
  const problems = facts.payments.flatMap((payment) => {
    const found = [
      ...(payment.conflictEventId === undefined
        ? []
        : [{ eventId: payment.conflictEventId, cause: CAUSES.conflict(payment.transactionId) }]),
      ...toList(findCause(facts, payment, state)).map((cause) => ({
        eventId: payment.eventId,
        cause,
      })),
    ];
    return found.map(({ eventId, cause }) => ({ eventId, reason: cause }));
  });
  return [
    ...withoutRepaired(facts),
    ...problems,
    ...findChangeProblems(facts, drafts, isKnown, findProduct),
    ...findRefundedKeys(facts, drafts, findProduct),
  ];
}

const CAUSES = {
  conflict: (id: string) =>
    `${ATTENTION_PREFIX}the transaction ${id} was reported before as another payment, which is kept. Send this payment again under another id.`,
  canceled: `${ATTENTION_PREFIX}it was paid after the subscription was canceled, so the license stays canceled. Refund it at the provider, or issue a new license: latchkey webhook issue.`,
  quantity: `${ATTENTION_PREFIX}the quantity is not a plausible number. Compare it with the provider, and issue what was sold: latchkey webhook issue.`,
  keys: `${ATTENTION_PREFIX}it sells more than ${MAX_KEYS} keys in one line, and none was created for it. Issue them with latchkey license issue --count.`,
  nothingSold: `${ATTENTION_PREFIX}it is paid, and the quantity of everything that it sells is 0. Compare it with the provider, and issue what was sold: latchkey webhook issue.`,
  nothing: `${ATTENTION_PREFIX}it names no price, and its subscription is not known yet. Send the events of the subscription again at the provider, or issue what was sold: latchkey webhook issue.`,
  unknownLine: `${ATTENTION_PREFIX}it pays for something that no event of the subscription contains yet. Send the events of the subscription again at the provider, or issue what was sold: latchkey webhook issue.`,
  unrelated: `${ATTENTION_PREFIX}it belongs to no checkout and no subscription that is known. If a license was sold, issue it: latchkey webhook issue.`,
} as const;

/** Explains prices that the catalogue lacks. */
export function explainPrices(priceIds: readonly string[]): string {
  const prices = [...new Set(priceIds)].slice(0, MAX_PRICES).join(', ');
  return `${UNMATCHED_PREFIX}${prices}.`;
}

function findCause(
  facts: PurchaseFacts,
  payment: MergedPayment,
  { drafts, isKnown, isRunning, countAssigned, findProduct }: State,
): string | null {
  const { total, lines } = payment;
  if (isReportedPeriod(facts, payment) || isIssued(facts, payment)) return null;
  if (payment.origin === 'other') return findUnrelated(payment, drafts, isKnown);
  if (findRefund(payment, facts.adjustments, null) !== null) return null;
  if (lines.some(({ quantity }) => quantity !== 0 && !isPlausible(quantity))) {
    return CAUSES.quantity;
  }
  const sold = lines.filter(({ quantity }) => quantity !== 0);
  if (sold.some((line) => isTooMany(line, findProduct, drafts))) return CAUSES.keys;
  const missing = listMissing(facts, payment, sold, isRunning, isKnown);
  if (missing.length > 0) return explainPrices(missing);
  if (total === 0) return null;
  if (lines.length > 0 && sold.length === 0) return CAUSES.nothingSold;
  return (
    findCancellation(facts, payment) ??
    findUnassigned(payment, sold, { drafts, isKnown, countAssigned }) ??
    (payment.problem === undefined ? null : `${ATTENTION_PREFIX}${payment.problem}`)
  );
}

/** A seller may invoice anything: only what the catalogue has needs a license. */
function findUnrelated(
  { total, lines }: MergedPayment,
  drafts: readonly LicenseDraft[],
  isKnown: IsKnown,
): string | null {
  const isSale = (total ?? 0) > 0 && lines.some(({ priceId }) => isKnown(priceId));
  return isSale && drafts.length === 0 ? CAUSES.unrelated : null;
}

/** What is known of a purchase. */
interface State {
  readonly drafts: readonly LicenseDraft[];
  readonly findProduct: FindProduct;
  readonly isKnown: IsKnown;
  readonly isRunning: boolean;
  /** Counts the lines of a payment that pay a line of the subscription. */
  readonly countAssigned: (payment: MergedPayment) => number;
}

/** Whether a price is in the catalogue, or sold. */
type IsKnown = (priceId: string) => boolean;

/** Lists the prices that the catalogue lacks; further one-time charges of a subscription need not be products. */
function listMissing(
  { payments }: PurchaseFacts,
  payment: MergedPayment,
  sold: readonly BillingLine[],
  isRunning: boolean,
  isKnown: IsKnown,
): string[] {
  const isPurchase = findPurchase(payments) === payment;
  return sold
    .filter(({ cycle }) => isPurchase || cycle !== null || !isRunning)
    .map(({ priceId }) => priceId)
    .filter((priceId) => !isKnown(priceId));
}

function findCancellation({ snapshots }: PurchaseFacts, payment: MergedPayment): string | null {
  const newest = snapshots.at(-1);
  if (newest?.status !== 'canceled') return null;
  const canceledAt = newest.canceledAt ?? newest.occurredAt;
  const isRecurring = payment.lines.length === 0 || payment.lines.some((line) => line.cycle);
  const isLate = payment.occurredAt > canceledAt && payment.origin !== 'purchase';
  return isLate && isRecurring && compareOccurrences(payment, newest) > 0 ? CAUSES.canceled : null;
}

function findUnassigned(
  payment: MergedPayment,
  sold: readonly BillingLine[],
  { drafts, isKnown, countAssigned }: Omit<State, 'isRunning' | 'findProduct'>,
): string | null {
  const recurring = sold.filter(({ cycle }) => cycle !== null);
  if (sold.length === 0) {
    if ((payment.prorations ?? []).length > 0) return null;
    return findUnsold(payment, drafts, isKnown);
  }
  if (drafts.length === 0) return CAUSES.unknownLine;
  if (recurring.length === 0) return null;
  if (!drafts.some(({ lineKey }) => isRecurringKey(lineKey))) return CAUSES.unknownLine;
  return countAssigned(payment) < recurring.length ? CAUSES.unknownLine : null;
}

/** Counts at the first question: most payments need no answer. */
function createCounter({ payments }: PaidLines): State['countAssigned'] {
  let counts: Map<string, number> | null = null;
  return ({ transactionId }) => {
    counts ??= countLines([...payments.values()].flat());
    return counts.get(transactionId) ?? 0;
  };
}

function countLines(assigned: readonly LinePayment[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { payment } of assigned) {
    counts.set(payment.transactionId, (counts.get(payment.transactionId) ?? 0) + 1);
  }
  return counts;
}

/** A payment without lines pays all lines of its subscription. */
function findUnsold(
  { problem }: MergedPayment,
  drafts: readonly LicenseDraft[],
  isKnown: IsKnown,
): string | null {
  const paid = drafts.filter(({ lineKey }) => isRecurringKey(lineKey));
  if (paid.length === 0) return problem === undefined ? CAUSES.nothing : null;
  const unsold = paid.filter(({ product, priceId }) => product === null && !isKnown(priceId));
  if (unsold.length > 0) return explainPrices(unsold.map(({ priceId }) => priceId));
  return paid.every(({ product }) => product === null) ? CAUSES.quantity : null;
}

/** Finds the lines that changed to a price or quantity that cannot be sold: their licenses keep what they had. */
function findChangeProblems(
  { snapshots }: PurchaseFacts,
  drafts: readonly LicenseDraft[],
  isKnown: IsKnown,
  findProduct: FindProduct,
): Problem[] {
  const newest = snapshots.findLast(({ lines }) => lines.length > 0);
  if (newest === undefined || snapshots.at(-1)?.status === 'canceled') return [];
  const { eventId, lines } = newest;
  const sold = lines.filter(({ quantity }) => quantity !== 0);
  if (drafts.length === 0) return [];
  const priceIds = new Set(sold.map(({ priceId }) => priceId));
  const missing = [...priceIds].filter((priceId) => !isKnown(priceId));
  if (missing.length > 0) return [{ eventId, reason: explainPrices(missing) }];
  if (sold.some(({ quantity }) => !isPlausible(quantity))) {
    return [{ eventId, reason: CAUSES.quantity }];
  }
  return sold.some((line) => isTooMany(line, findProduct, drafts))
    ? [{ eventId, reason: CAUSES.keys }]
    : [];
}

/** Whether a line asks for more keys than are created, and was not sold as machines. */
function isTooMany(
  { priceId, quantity }: BillingLine,
  findProduct: FindProduct,
  drafts: readonly LicenseDraft[],
): boolean {
  // Whatever its product is.
  if (quantity <= MAX_KEYS) return false;
  const product = findProduct(priceId);
  if (product === null || canSell(product, quantity)) return false;
  return !drafts.some(
    (draft) => draft.priceId === priceId && draft.quantity === quantity && draft.product !== null,
  );
}

function toList<Value>(value: Value | null): Value[] {
  return value === null ? [] : [value];
}
