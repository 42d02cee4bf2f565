/** The currencies of buyers, and the tax that their prices contain. */

/** A country that the shop sells to. */
export interface Market {
  readonly currency: 'EUR' | 'USD' | 'JPY';
  /** ISO 3166-1. */
  readonly country: 'AT' | 'US' | 'JP';
  /** In percent of the price without tax. */
  readonly taxPercent: number;
  /** Whether prices are shown with their tax. */
  readonly isTaxIncluded: boolean;
  /** The smallest units of the currency that the price of one euro cent is. */
  readonly perCent: number;
  /** How many smallest units are one unit: one yen has no hundredths. */
  readonly unit: 1 | 100;
}

export const MARKETS = {
  austria: {
    currency: 'EUR',
    country: 'AT',
    taxPercent: 20,
    isTaxIncluded: true,
    perCent: 1,
    unit: 100,
  },
  america: {
    currency: 'USD',
    country: 'US',
    taxPercent: 7,
    isTaxIncluded: false,
    perCent: 1.1,
    unit: 100,
  },
  japan: {
    currency: 'JPY',
    country: 'JP',
    taxPercent: 10,
    isTaxIncluded: true,
    perCent: 1.6,
    unit: 1,
  },
} as const satisfies Record<string, Market>;

/** Euros without tax, of buyers without a market. */
export const UNTAXED: Market = { ...MARKETS.austria, taxPercent: 0 };

/** Returns the price of euro cents, with tax, in the smallest unit of the market's currency. */
export function toPrice({ perCent }: Market, cents: number): number {
  return Math.round(cents * perCent);
}

/** What providers keep of an amount, in percent; the others do not report it with a payment. */
const FEES: Readonly<Record<string, number>> = { paddle: 5, gumroad: 10, standard: 2 };

/** Returns what a provider reports that it keeps of an amount. */
export function feeOf(provider: string, amount: number): number {
  return Math.round((amount * (FEES[provider] ?? 0)) / 100);
}

/** Returns the tax that an amount contains. */
export function taxOf({ taxPercent }: Market, amount: number): number {
  return Math.round((amount * taxPercent) / (100 + taxPercent));
}
