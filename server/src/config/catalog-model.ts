/** How long software may run offline when the catalogue does not say, or no longer has the product. */
export const DEFAULT_OFFLINE_DAYS = 14;

/** How many machines a license may be activated on beyond its `max_activations` within a period, when the catalogue does not say. */
export const DEFAULT_EXTRA_MOVES = 3;

/** The period, when the catalogue does not say and `offline_days` are not more. */
export const DEFAULT_MOVE_DAYS = 30;

/** The products on sale: read from `catalog.yaml`, never changed by the service. */
export interface Catalog {
  /** The prefix of new license keys. */
  readonly keyPrefix: string;
  readonly trial: CatalogTrial;
  readonly outreach: CatalogOutreach;
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

/** The languages that the catalogue has texts in. */
export const CATALOG_LANGUAGES = ['en', 'fr', 'de'] as const;

export type CatalogLanguage = (typeof CATALOG_LANGUAGES)[number];

/** The product and its vendor in outreach messages. Null: omitted, unless noted otherwise. */
export interface CatalogOutreach {
  /** Default: the name of the product that trials are of. */
  readonly productName: string;
  /** Who signs. Null: the name that mail comes from. */
  readonly sender: string | null;
  /** The sender's address, which many countries require by law in advertising letters. */
  readonly postalAddress: string | null;
  /** `https://…` or `http://…`. Null: that of the domain that mail comes from. */
  readonly website: string | null;
  /** Of the same form. Null: the website. */
  readonly links: Readonly<Record<OutreachLink, string | null>>;
  /** The purpose of the software, in a sentence. */
  readonly about: Readonly<Record<CatalogLanguage, string | null>>;
  /** The version that letters about news are about. */
  readonly version: string | null;
  /** Its news, in a sentence each. */
  readonly highlights: Readonly<Record<CatalogLanguage, readonly string[]>>;
}

/** The pages that letters lead to. */
export const OUTREACH_LINKS = ['download', 'sellers', 'tutorials', 'news'] as const;

export type OutreachLink = (typeof OUTREACH_LINKS)[number];

/** One thing that is sold. */
export interface Product {
  readonly id: string;
  readonly name: string;
  /** The `product_type` in the response to the check of a transaction. */
  readonly productType: string;
  readonly tier: string;
  readonly features: readonly string[];
  readonly maxActivations: number;
  /** How long a license lasts; null: for ever, or as long as its subscription is paid. */
  readonly durationDays: number | null;
  /** How long a client may run without asking again. */
  readonly offlineDays: number;
  readonly moves: CatalogMoves;
  readonly prices: Readonly<Record<PriceProvider, readonly string[]>>;
}

/** How often the machines of a license may change. */
export interface CatalogMoves {
  /** How many different machines beyond the license's maximum may be activated within the period. */
  readonly extra: number;
  readonly days: number;
}

/** The payment providers whose prices the catalogue can name. */
export const PRICE_PROVIDERS = ['paddle', 'stripe', 'lemonsqueezy', 'standard'] as const;

export type PriceProvider = (typeof PRICE_PROVIDERS)[number];
