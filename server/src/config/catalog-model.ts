/** How long software may run offline where the catalogue does not say, and for a product that has left it. */
export const DEFAULT_OFFLINE_DAYS = 14;

/** What is sold: read from `catalog.yaml`, never changed by the service. */
export interface Catalog {
  /** What every new licence key begins with. */
  readonly keyPrefix: string;
  readonly trial: CatalogTrial;
  /** By id, in the order of the file. */
  readonly products: ReadonlyMap<string, Product>;
  /** The product that a payment provider's price stands for, or null. */
  readonly findPrice: (provider: PriceProvider, priceId: string) => Product | null;
}

/** The product that a trial is of, and what it unlocks. */
export interface CatalogTrial {
  readonly productId: string;
  readonly features: readonly string[];
}

/** One thing that is sold. */
export interface Product {
  readonly id: string;
  readonly name: string;
  /** What the check of a transaction tells as `product_type`. */
  readonly productType: string;
  readonly tier: string;
  readonly features: readonly string[];
  readonly maxActivations: number;
  /** How long a licence lasts; null: for ever, or as long as its subscription is paid. */
  readonly durationDays: number | null;
  /** How long a client may run without asking again. */
  readonly offlineDays: number;
  readonly prices: Readonly<Record<PriceProvider, readonly string[]>>;
}

/** The payment providers whose prices the catalogue can name. */
export const PRICE_PROVIDERS = ['paddle', 'stripe', 'lemonsqueezy', 'standard'] as const;

export type PriceProvider = (typeof PRICE_PROVIDERS)[number];
