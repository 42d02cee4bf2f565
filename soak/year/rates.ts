/** How often things happen in a shop, as its publishers report it; rates without a publisher are assumptions. */
export const RATES = {
  /** Of renewals: 7.2 % of charges fail (Culta, from reports of Stripe, Recurly, ProfitWell and Chargebee). */
  declined: 0.072,
  /** Of declined renewals: 47.6 % are recovered, at the median (Recurly, by Slicker). */
  recovered: 0.476,
  /** Of monthly renewals: 2.6 % of subscribers cancel in a month (Recurly, by RetentionLens). */
  canceled: 0.026,
  /** Of payments: 0.66 % of those for software are charged back (Expert Market, by Stax). */
  chargedBack: 0.0066,
  /** Of chargebacks: about 30 % are won by the seller (Chargeback.io). */
  won: 0.3,
  /** Of paused subscribers: three of four come back (Recurly, by Signal). */
  resumed: 0.75,
  /** Of renewals: less than 1 % a month is low (AskBiz). */
  changed: 0.02,
  /** Assumed: of renewals. */
  paused: 0.01,
  /** Assumed: of payments. Shops with a guarantee of 30 days report more. */
  refunded: 0.04,
  /** Assumed: of refunds. */
  refundedInPart: 0.25,
  /** Assumed: of subscriptions that end because a renewal stays unpaid, an open invoice is paid afterwards. */
  paidAfterEnd: 0.1,
  /** Assumed: of subscriptions. */
  trial: 0.2,
  /** Assumed: of trials. */
  trialUnpaid: 0.4,
  /** Assumed: subscriptions whose first events were sent to another system. */
  fromBefore: 0.05,
  /** Assumed: of one-time sales, a price that the catalogue lacks. */
  unknownPrice: 0.01,
  /** Assumed: of sales that can be given to another person. */
  gift: 0.06,
  /** Assumed: of one-time sales, for twice the machines. */
  several: 0.15,
  /** Assumed: of licenses that end, or whose updates end, and of renewals that move to the larger product. */
  renewed: 0.7,
  upgraded: 0.25,
  /** Assumed: of deliveries. */
  repeated: 0.1,
  /** Assumed: of deliveries: after up to an hour, and after up to three days. */
  late: 0.15,
  veryLate: 0.04,
} as const;

/** Assumed: the shares of buyers by what they buy first; all others buy by the month. And by where they live; all others in Austria. */
export const SHARES = {
  once: 0.15,
  seat: 0.05,
  desk: 0.08,
  tool: 0.07,
  year: 0.15,
  japan: 0.15,
  america: 0.35,
} as const;

/** Draws numbers from 0 to 1, the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
