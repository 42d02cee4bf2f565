import { TermAccount, UpdatesAccount } from './books-of-renewals.ts';
import type { Books } from './books.ts';
import { PLANS, TERM_DAYS, type Plan, type ProviderName } from './happenings.ts';
import { Person, YEAR_DAYS, type Life } from './person.ts';
import { RATES } from './rates.ts';
import { toLicenseOf } from './writers/delivery.ts';

/** Their purchases cannot name a license. */
const WITHOUT_CUSTOM_DATA: ReadonlySet<ProviderName> = new Set(['gumroad']);

/** The least time between two purchases: longer than events take to arrive. */
const PAUSE_DAYS = 5;

/** A buyer of a license that ends, or whose updates end, who renews and upgrades it by further purchases. */
export class Renewer extends Person {
  live(plan: Plan): Life {
    const isTool = plan === PLANS.tool;
    const account = isTool ? new UpdatesAccount(this.buyer) : new TermAccount(this.buyer);
    let day: number = this.between(0, YEAR_DAYS - 15);
    const isRefunded = this.#buy(account, plan, day, false);
    const canRenew = isTool || !WITHOUT_CUSTOM_DATA.has(this.buyer.provider);
    if (isRefunded || !canRenew) return { account, happenings: this.happenings };
    let next = plan;
    while (this.chance(RATES.renewed)) {
      day += Math.max(PAUSE_DAYS, this.between(TERM_DAYS - 60, TERM_DAYS + 20));
      if (day > YEAR_DAYS - 15) break;
      next = isTool ? PLANS.upkeep : this.chance(RATES.upgraded) ? PLANS.studio : next;
      this.#buy(account, next, day, !isTool);
    }
    return { account, happenings: this.happenings };
  }

  /** @returns whether the buyer got the money back */
  #buy(account: Books, plan: Plan, day: number, namesLicense: boolean): boolean {
    const payment = this.pay(account, {
      plan,
      day,
      origin: 'purchase',
      amount: this.priceOf(plan),
      from: day,
      until: day + TERM_DAYS,
      custom: namesLicense ? { license_id: toLicenseOf(this.buyer.email) } : {},
    });
    if (this.giveBack(account, payment, YEAR_DAYS) !== null) return true;
    this.dispute(account, payment);
    return false;
  }
}
