import type { AnyHappening, Buyer, CustomData, Paid } from '../../../soak/year/happenings.ts';
import type { GoodName, Seller } from './goods.ts';
import type { Purchase } from './model-purchase.ts';

/** A drawn step. A step that is impossible is ignored, and so is what has no meaning for its kind. */
export interface Step {
  readonly kind:
    | 'buy'
    | 'renewLicense'
    | 'renewSubscription'
    | 'changeQuantity'
    | 'cancel'
    | 'refund'
    | 'refundPart'
    | 'dispute'
    | 'win'
    | 'editCatalog'
    | 'addKeys';
  readonly days: number;
  /** Selects among the purchases that the step can concern. */
  readonly pick: number;
  readonly person: number;
  /** Null: no gift. */
  readonly giftTo: number | null;
  readonly good: GoodName;
  readonly seller: Seller;
  readonly quantity: number;
  readonly isTest: boolean;
  /** Whether the provider's report of the subscription never arrives. */
  readonly isLost: boolean;
  readonly isNamedByKey: boolean;
}

/** Something that a provider reports. */
export interface Report {
  readonly happening: AnyHappening;
  readonly purchase: Purchase;
  /** The reports that arrive before: buyers can name only a license that exists. */
  readonly after: readonly Report[];
}

/** What happens between two edits. */
export type Turn =
  | { readonly kind: 'deliver'; readonly reports: readonly Report[] }
  | { readonly kind: 'editCatalog'; readonly edits: number }
  | { readonly kind: 'addKeys' };

/** A purchase as its provider knows it. */
export interface Sold {
  readonly purchase: Purchase;
  readonly buyer: Buyer;
  readonly custom: CustomData;
  /** The reports after which its licenses exist, and those that arrive before any of it. */
  readonly first: readonly Report[];
  readonly after: readonly Report[];
  readonly payments: Paid[];
  /** The reports of money that went back, and of disputes. */
  readonly returned: Report[];
  /** The day of the newest report, and the current period of a subscription. */
  last: number;
  from: number;
  until: number;
}

/** Stands for the license of a purchase in custom data, until it exists. */
export function placeholderOf({ number }: Purchase, isKey: boolean): string {
  return `@${isKey ? 'key' : 'id'}-of-${number}@`;
}

/** Providers that do not report disputes, and those that do not report how they end. */
export const WITHOUT_DISPUTES: readonly Seller[] = ['lemonsqueezy', 'polar', 'fastspring'];
export const WITHOUT_OUTCOMES: readonly Seller[] = [...WITHOUT_DISPUTES, 'creem'];

/** Providers whose payments report what they pay, so that a report of the subscription can be missing. */
export const WITH_PERIODS: readonly Seller[] = ['paddle', 'stripe', 'standard'];
