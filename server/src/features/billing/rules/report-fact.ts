import {
  decimalsOf,
  writeAmount,
  type PaymentSource,
  type Reported,
  type ReportedKind,
} from '@latchkey/contract';

import type { AdjustmentFact, BillingFact, BillingLine, PaymentFact } from '../facts.ts';

/** A fact, and what its purchase says about it. */
export interface FactInPurchase {
  readonly fact: BillingFact;
  /** The payment that an adjustment is about; null: unknown, or another fact. */
  readonly payment: PaymentFact | null;
  /** The stored details of the customer; null: unknown. */
  readonly email: string | null;
  readonly name: string | null;
  /** What the purchase sold, as it was sold. */
  readonly sold: readonly { readonly priceId: string; readonly productId: string }[];
}

/** Names the products of a catalogue. */
export interface ProductNames {
  readonly findPrice: (source: PaymentSource, priceId: string) => { readonly id: string } | null;
  readonly products: ReadonlyMap<string, { readonly name: string }>;
}

/** What an event reports that has no fact. @param kind null: it is not known */
export function reportNothing(kind: ReportedKind | null): Reported {
  const unknown = { amount: null, amount_text: null, tax: null, currency: null, decimals: null };
  const customer = { customer_name: null, customer_email: null };
  return { kind, ...customer, products: [], ...unknown, country: null, reported: null };
}

/** Reports a fact to operators: kind, customer, products and money, and the provider's own word for it. */
export function reportFact(
  provider: PaymentSource,
  known: FactInPurchase,
  catalog: ProductNames,
): Reported {
  const { fact, payment } = known;
  const kind = kindOf(fact);
  if (fact.kind === 'customer') return { ...reportNothing(kind), ...customerOf(known) };
  const paid = fact.kind === 'payment' ? fact : payment;
  const lines = fact.kind === 'subscription' ? fact.lines : (paid?.lines ?? []);
  return {
    kind,
    ...customerOf(known),
    products: nameProducts(provider, lines, known.sold, catalog),
    ...reportAmount(provider, fact.kind === 'subscription' ? null : fact, paid),
    country: paid?.country ?? null,
    reported: fact.reported ?? null,
  };
}

/** Returns the kind of a fact for operators. */
export function kindOf(fact: BillingFact): ReportedKind {
  if (fact.kind === 'payment') return fact.origin === 'other' ? 'payment' : fact.origin;
  if (fact.kind !== 'adjustment') return fact.kind;
  if (fact.effect === 'refund') return 'refund';
  return fact.effect === 'none' ? 'adjustment' : 'dispute';
}

/** As stored, else as the fact says. */
function customerOf({
  fact,
  payment,
  name,
  email,
}: FactInPurchase): Pick<Reported, 'customer_name' | 'customer_email'> {
  const customer = (fact.kind === 'adjustment' ? payment : fact)?.customer;
  return {
    customer_name: name ?? customer?.name ?? null,
    customer_email: email ?? customer?.email ?? null,
  };
}

/** Reports money by the provider's rule of decimals; a refund without a currency has that of its payment. */
export function reportAmount(
  provider: PaymentSource,
  fact: PaymentFact | AdjustmentFact | null,
  payment: PaymentFact | null,
): Pick<Reported, 'amount' | 'amount_text' | 'tax' | 'currency' | 'decimals'> {
  const amount = fact?.total ?? null;
  const currency = fact?.currency ?? payment?.currency ?? null;
  const decimals = currency === null ? null : decimalsOf(provider, currency);
  const isWritable = amount !== null && decimals !== null && Number.isSafeInteger(amount);
  return {
    amount,
    amount_text: isWritable ? writeAmount(amount, decimals) : null,
    tax: fact?.tax ?? null,
    currency,
    decimals,
  };
}

const MAX_PRODUCTS = 20;

/** Names the products of lines as they were sold, else by the catalogue; and what was sold without a line, by an operator's word. */
export function nameProducts(
  provider: PaymentSource,
  lines: readonly Pick<BillingLine, 'priceId'>[],
  sold: FactInPurchase['sold'],
  { findPrice, products }: ProductNames,
): Reported['products'] {
  const sales = new Map(sold.map(({ priceId, productId }) => [priceId, productId]));
  const priceIds = [...new Set(lines.map(({ priceId }) => priceId))];
  const named = priceIds.map((priceId) => ({
    priceId,
    productId: sales.get(priceId) ?? findPrice(provider, priceId)?.id ?? null,
  }));
  const known = named.filter(({ productId }) => productId !== null);
  const others = [...new Set(sales.values())].map((productId) => ({ priceId: null, productId }));
  const isComplete = known.length > 0 || others.length === 0;
  return (isComplete ? named : others).slice(0, MAX_PRODUCTS).map(({ priceId, productId }) => ({
    product_id: productId,
    name: productId === null ? null : (products.get(productId)?.name ?? null),
    price_id: priceId,
  }));
}
