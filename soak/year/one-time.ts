import { Account } from './books.ts';
import { PLANS, type Plan } from './happenings.ts';
import { Person, YEAR_DAYS, type Life } from './person.ts';
import { RATES } from './rates.ts';

/** A buyer who buys once: for some machines, or a number of keys. */
export class OneTime extends Person {
  live(plan: Plan): Life {
    const account = new Account(this.buyer, plan);
    const day = this.between(0, YEAR_DAYS - 15);
    const quantity = this.#drawQuantity(plan);
    const payment = this.pay(account, {
      day,
      origin: 'purchase',
      quantity,
      amount: quantity * this.priceOf(plan),
      from: day,
      until: null,
    });
    if (plan.product === null) account.unearned.add(payment);
    else if (this.giveBack(account, payment, YEAR_DAYS) === null) this.dispute(account, payment);
    return { account, happenings: this.happenings };
  }

  #drawQuantity(plan: Plan): number {
    if (plan === PLANS.seat) return 2 + Math.floor(this.random() * 4);
    return plan === PLANS.once && this.chance(RATES.several) ? 2 : 1;
  }
}
