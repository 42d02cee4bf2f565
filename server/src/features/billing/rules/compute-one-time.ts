import { providerOf } from '@latchkey/contract';

import type { BillingLine, PaymentFact } from '../facts.ts';
import type {
  LicenseContext,
  LicenseDraft,
  LineContext,
  Origin,
  SoldProduct,
} from './compute-licenses.ts';
import type { MergedPayment } from './merge-versions.ts';
import { listUnits, nameUnit, type Unit } from './list-units.ts';
import { toDays } from './draft-updates.ts';
import { findDispute, findRefund } from './money-back.ts';
import type { LinePayment } from './paid-through.ts';
import type { TrackedLine } from './track-lines.ts';

const DAY_MS = 86_400_000;

const NO_SUBSCRIPTION = { cancelScheduledFor: null, canceledAt: null, pausedAt: null };

/** A payment whose one-time lines have licenses, with the names of these. */
interface OneTimeSale extends Omit<Origin, 'payment'> {
  readonly payment: PaymentFact;
  /** Begins the keys of its lines. Default: those of the checkout. */
  readonly lineKeys?: string;
}

/** Computes the licenses of the one-time lines of a payment. */
export function computeOneTime(context: LicenseContext, sale: OneTimeSale): LicenseDraft[] {
  const { payment, lineKeys = 'once:' } = sale;
  return payment.lines
    .map((line, position) => ({ line, position }))
    .filter(({ line }) => line.cycle === null)
    .flatMap(({ line, position }, ordinal) =>
      line.quantity === 0
        ? []
        : computeOneTimeLine(context, sale, line, { position, lineKey: `${lineKeys}${ordinal}` }),
    );
}

/** The place of a line in its payment, and its name. */
export interface LinePlace {
  readonly position: number;
  readonly lineKey: string;
}

function computeOneTimeLine(
  { facts: { payments, adjustments }, ...context }: LicenseContext,
  { transactionId, checkoutId, payment }: OneTimeSale,
  line: BillingLine,
  { position, lineKey }: LinePlace,
): LicenseDraft[] {
  const priceIds = new Set([line.priceId]);
  const named = { transactionId, lineKey, priceIds, quantities: [line.quantity] };
  const refundedAt = findRefund(payment, adjustments, line.lineId);
  const disputedAt = findDispute(
    payments.filter((each) => each === payment),
    adjustments,
    () => line.lineId,
  );
  return listLicenses(context, named, [line]).map((unit) => ({
    transactionId,
    checkoutId,
    position,
    ...toSold(unit, line),
    lineKey: `${lineKey}${unit?.suffix ?? ''}`,
    soldAt: payment.occurredAt,
    total: unit === null || unit.suffix === '' ? line.total : null,
    subscription: false,
    hasGrace: false,
    expiresAt: endOfTerm(unit?.product ?? null, payment.occurredAt),
    disputedAt,
    refundedAt,
    updates: toDays(unit?.product ?? null, payment.occurredAt, refundedAt ?? disputedAt),
    ...NO_SUBSCRIPTION,
  }));
}

/** Charges of a subscription for something that is sold once; what the catalogue lacks need not be a product. */
export function computeCharges(
  context: LicenseContext,
  purchase: MergedPayment | null,
): LicenseDraft[] {
  const { payments, provider } = context.facts;
  return payments
    .filter((payment) => payment !== purchase && payment.origin !== 'other')
    .flatMap((payment) => {
      const { transactionId, checkoutId = transactionId } = payment;
      const sale = {
        transactionId,
        // Lemon Squeezy numbers its invoices.
        checkoutId: providerOf(provider) === 'lemonsqueezy' ? null : checkoutId,
        payment,
        lineKeys: `charge:${transactionId}:`,
      };
      return computeOneTime(context, sale).filter(({ product }) => product !== null);
    });
}

/** Lists the licenses of a line; one without a product if it sells nothing that is known. */
function listLicenses(
  { findProduct, countParts }: Pick<LicenseContext, 'findProduct' | 'countParts'>,
  named: Omit<LineContext, 'part'>,
  history: readonly BillingLine[],
): readonly (Unit | null)[] {
  const units = listUnits(history, {
    findPart: ({ priceId }, part) => {
      const lineKey = `${named.lineKey}${nameUnit(part, 0)}`;
      return findProduct(priceId, { ...named, lineKey, part });
    },
    countParts: ({ priceId }) => countParts(priceId, named),
  });
  return units.length === 0 ? [null] : units;
}

/**
 * Lists the licenses of a line of a subscription; without a known price of it, what its payments name, because nothing else may report a
 * change.
 */
export function listRecurring(
  context: Pick<LicenseContext, 'findProduct' | 'countParts'>,
  named: Omit<LineContext, 'part'>,
  { history }: TrackedLine,
  payments: readonly LinePayment[],
): readonly (Unit | null)[] {
  const units = listLicenses(context, named, history);
  if (units.some((unit) => unit !== null)) return units;
  return listLicenses(
    context,
    named,
    payments.flatMap(({ line }) => line ?? []),
  );
}

/** Returns what a license of a line sells; without one, the line itself. */
export function toSold(
  unit: Unit | null,
  line: BillingLine,
): Pick<LicenseDraft, 'product' | 'priceId' | 'quantity'> {
  const { priceId, quantity } = unit?.line ?? line;
  return { product: unit?.product ?? null, priceId, quantity: unit?.quantity ?? quantity };
}

function endOfTerm(product: SoldProduct | null, from: Date): Date | null {
  if (product === null) return null;
  if (product.endsAt !== undefined) return product.endsAt;
  const { durationDays } = product;
  return durationDays === null ? null : new Date(from.getTime() + durationDays * DAY_MS);
}
