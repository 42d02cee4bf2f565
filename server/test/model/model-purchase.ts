import { productAfter, type Good, type ProductId, type Seller } from './goods.ts';
import type { SubscriptionModel } from './model-subscription.ts';

/** A purchase. Days count from the start of the story. */
export interface Purchase {
  readonly number: number;
  readonly day: number;
  readonly seller: Seller;
  readonly isTest: boolean;
  /** The person who pays. */
  readonly payer: number;
  /** The person who gets the keys; null: the payer. */
  readonly giftTo: number | null;
  readonly good: Good;
  readonly quantity: number;
  /** The purchase whose license it renews; null: it names none. */
  readonly renews: Purchase | null;
  /** Of updates without a named license: those that they can be for. */
  readonly candidates: readonly Purchase[];
  /** The edits of the catalogue before it was sold. */
  edits: number;
  /** Null: sold once. */
  readonly subscription: SubscriptionModel | null;
  /** Whether it would make the license smaller that it renews. */
  isTooSmall: boolean;
  isReturned: boolean;
  isDisputed: boolean;
  /** Whether the pool had a key for it. */
  hasKey: boolean;
}

/** Who gets the keys. */
export function ownerOf({ giftTo, payer }: Purchase): number {
  return giftTo ?? payer;
}

/** What a purchase gives to one license. */
export interface Part {
  readonly day: number;
  /** When the newest period of a subscription began, as far as the payments report it. */
  readonly periodFrom: number;
  /** When it was paid last. */
  readonly paidOn: number;
  readonly product: ProductId;
  readonly machines: number;
  /** Null: perpetual. */
  readonly end: number | null;
  readonly canceledOn: number | null;
  readonly isSubscription: boolean;
  readonly isRefunded: boolean;
  readonly isDisputed: boolean;
  /** Days of updates, or until the end of a subscription; null: all. */
  readonly updates: number | 'paid time' | null;
}

/** Lists what a purchase gives: a part for each product of a bundle, and for each key of a quantity. */
export function listParts(purchase: Purchase): Part[] {
  const { good, subscription, quantity } = purchase;
  if (good.isUpdates) return [];
  const keys = subscription?.largestQuantity ?? quantity;
  return good.products.flatMap((product) =>
    productAfter(purchase.edits, product).asKeys
      ? Array.from({ length: keys }, (_, number) => toPart(purchase, product, number))
      : [toPart(purchase, product, null)],
  );
}

/** @param key the number of the key; null: the quantity multiplies the machines */
function toPart(purchase: Purchase, product: ProductId, key: number | null): Part {
  const { day, edits, subscription, isReturned: isRefunded, isDisputed } = purchase;
  const { machines, days, updates } = productAfter(edits, product);
  const quantity = key === null ? (subscription?.quantity ?? purchase.quantity) : 1;
  const common = { day, product, machines: machines * quantity, isDisputed };
  if (subscription === null) {
    const end = days === null ? null : day + days;
    const times = { end, canceledOn: null, paidOn: day, periodFrom: day };
    return { ...common, ...times, updates, isSubscription: false, isRefunded };
  }
  const state = subscription.state();
  const endOfKey = key === null ? null : subscription.endOfKey(key);
  return {
    ...common,
    ...state,
    canceledOn: endOfKey ?? state.canceledOn,
    isSubscription: true,
    updates: updates === null ? null : 'paid time',
  };
}
