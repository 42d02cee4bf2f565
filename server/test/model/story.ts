/** A shop in which things happen step by step: it writes what the providers report, and knows what was bought. */
import { addCycle, type Buyer } from '../../../soak/year/happenings.ts';
import { UNTAXED } from '../../../soak/year/money.ts';
import { GOODS, type Good } from './goods.ts';
import { isTooSmall } from './model-shop.ts';
import { listCandidates } from './model-updates.ts';
import type { Purchase } from './model-purchase.ts';
import { SubscriptionModel } from './model-subscription.ts';
import { HOUR, SoldGoods, toPaid } from './sold-goods.ts';
import { placeholderOf, WITH_PERIODS, type Report, type Sold, type Step } from './story-steps.ts';

/** A person who buys updates only. */
const NEVER_BUYS_VERSIONS = 3;

export class Story extends SoldGoods {
  readonly #start: number;
  readonly #emailOf: (person: number) => string;
  #today = 0;
  #edits = 0;
  #hasKeys = false;

  /**
   * @param start begins the numbers of its purchases
   * @param hasUpgrades whether licenses become other products; otherwise updates are sold
   */
  constructor(start: number, emailOf: (person: number) => string, hasUpgrades: boolean) {
    super(hasUpgrades);
    this.#start = start;
    this.#emailOf = emailOf;
  }

  take(step: Step): void {
    const actions: Readonly<Record<Step['kind'], () => void>> = {
      buy: () => this.#buy(step),
      renewLicense: () => this.#renewLicense(step),
      renewSubscription: () => this.renewSubscription(step),
      changeQuantity: () => this.changeQuantity(step),
      cancel: () => this.cancel(step),
      refund: () => this.refund(step),
      refundPart: () => this.refundPart(step),
      dispute: () => this.dispute(step),
      win: () => this.win(step),
      editCatalog: () => this.#editCatalog(),
      addKeys: () => this.#addKeys(),
    };
    actions[step.kind]();
  }

  #buy(step: Step): void {
    if (GOODS[step.good].isUpdates) this.#buyUpdates(step);
    else if (step.good === 'versions') this.#buyVersions(step);
    else this.#sell(step, null, []);
  }

  /** Which of several licenses gets updates would depend on the order of arrival: so what concerns it arrives in order. */
  #buyUpdates(step: Step): void {
    if (this.hasUpgrades) return;
    const found = listCandidates(this.purchases, step);
    const isNever = step.person === NEVER_BUYS_VERSIONS;
    if (found.length === 0 && !isNever) return;
    const own = this.sold.filter(({ purchase }) => purchase.good.products.includes('versions'));
    // The purchases of a customer at a provider are computed together; those at another one must be known.
    const isOwn =
      found.length === 1 &&
      found[0]?.payer === step.person &&
      found[0].seller === step.seller &&
      step.seller !== 'stripe';
    const bought = isOwn ? [] : own.flatMap(({ first }) => first);
    this.#sell({ ...step, giftTo: null }, null, [
      ...bought,
      ...own.flatMap(({ returned }) => returned),
    ]);
  }

  #buyVersions(step: Step): void {
    if ([step.person, step.giftTo].includes(NEVER_BUYS_VERSIONS)) return;
    this.#sell(step, null, this.listLoose());
  }

  #renewLicense(step: Step): void {
    const isPeriodKnown = GOODS[step.good].cycle === null || WITH_PERIODS.includes(step.seller);
    if (step.seller === 'gumroad' || !isPeriodKnown) return;
    const named = this.select(step.pick, ({ purchase }) => this.#canBeNamed(purchase, step));
    if (named !== null) this.#sell(step, named, named.first);
  }

  /** A license has one product and a key when it is delivered. */
  #canBeNamed({ renews, hasKey, good: own }: Purchase, step: Step): boolean {
    const good: Good = GOODS[step.good];
    // The first product of a bundle renews the license, unless it has the second one.
    const isBundle = this.hasUpgrades && step.good === 'suite' && !own.products.includes('seat');
    const isSingle = own.products.length === 1 && (good.products.length === 1 || isBundle);
    if (!isSingle || renews !== null || own.isUpdates || !hasKey) return false;
    if (this.hasUpgrades) return !good.isUpdates;
    return own.products[0] === good.products[0];
  }

  #sell(step: Step, named: Sold | null, after: readonly Report[]): void {
    const { person, seller, isTest, quantity } = step;
    const good: Good = GOODS[step.good];
    if (seller === 'gumroad' && (good.cycle !== null || step.giftTo !== null)) return;
    this.#today += step.days;
    const purchase: Purchase = {
      number: this.#start + this.sold.length,
      day: this.#today,
      seller,
      isTest,
      payer: person,
      giftTo: step.giftTo,
      good,
      quantity,
      renews: named?.purchase ?? null,
      candidates: good.isUpdates && named === null ? listCandidates(this.purchases, step) : [],
      subscription: good.cycle === null ? null : new SubscriptionModel(quantity),
      edits: this.#edits,
      isTooSmall: false,
      isReturned: false,
      isDisputed: false,
      hasKey: isTest || this.#hasKeys || !good.products.includes('pooled'),
    };
    purchase.isTooSmall = isTooSmall(this.purchases, purchase);
    this.#begin(purchase, step, after);
  }

  #begin(purchase: Purchase, { isNamedByKey }: Step, after: readonly Report[]): void {
    const { day, good, giftTo, renews, subscription } = purchase;
    const name = isNamedByKey ? 'license_key' : 'license_id';
    const custom = {
      ...(giftTo === null ? {} : { gift_to: this.#emailOf(giftTo) }),
      ...(renews === null ? {} : { [name]: placeholderOf(renews, isNamedByKey) }),
    };
    const buyer = this.#toBuyer(purchase);
    const until = good.cycle === null ? null : addCycle(day, good.cycle);
    const paid = toPaid(purchase, buyer, { number: 1, day, origin: 'purchase', from: day, until });
    const first = [this.report(purchase, { ...paid, custom }, after)];
    const period = { last: day, from: day, until: until ?? day };
    const sold = {
      purchase,
      buyer,
      custom,
      first,
      after,
      payments: [paid],
      returned: [],
      ...period,
    };
    this.sold.push(sold);
    if (subscription === null || until === null) return;
    subscription.pay(day, day, until);
    first.push(this.state(sold, 'active', day + HOUR, true));
  }

  #toBuyer({ number, payer, seller }: Purchase): Buyer {
    // Gumroad has its own writer.
    const provider = seller === 'gumroad' ? 'standard' : seller;
    const email = this.#emailOf(payer);
    return {
      number,
      provider,
      email,
      market: UNTAXED,
      giftTo: null,
      customer: this.#start + payer,
    };
  }

  #editCatalog(): void {
    this.end();
    this.#edits += 1;
    this.turns.push({ kind: 'editCatalog', edits: this.#edits });
  }

  /** The vendor adds keys to the pool, and replays the events that wait for them. */
  #addKeys(): void {
    if (this.#hasKeys) return;
    this.end();
    this.#hasKeys = true;
    this.turns.push({ kind: 'addKeys' });
    for (const purchase of this.purchases) {
      if (purchase.hasKey || purchase.isReturned) continue;
      purchase.hasKey = true;
      purchase.edits = this.#edits;
    }
  }
}
