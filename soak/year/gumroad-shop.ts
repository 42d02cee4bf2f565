import type { GumroadApi } from '../../server/src/features/billing/providers/gumroad/gumroad-api.ts';
import type { GumroadApiStub } from '../../server/test/payment-providers/gumroad-sales.ts';
import type { AnyHappening, Returned } from './happenings.ts';
import {
  nameSale,
  nameSubscription,
  writeMoneyBack,
  writeSales,
  writeSubscriber,
} from './writers/gumroad.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The sales and memberships of the shop's account at Gumroad, which its API returns as they are when it is asked. */
export class GumroadShop {
  readonly #waiting: AnyHappening[];
  readonly #sales = new Map<string, Fields>();
  readonly #subscribers = new Map<string, Fields>();
  readonly #reported = new Map<string, number>();

  constructor(happenings: readonly AnyHappening[]) {
    this.#waiting = happenings
      .filter(({ buyer }) => buyer.provider === 'gumroad')
      .sort((a, b) => b.day - a.day);
  }

  /** Lets everything happen until a day. @param stub answers with it */
  advance(stub: GumroadApiStub, day: number): void {
    for (let next = this.#waiting.at(-1); next !== undefined && next.day <= day;) {
      this.#waiting.pop();
      this.#apply(next);
      next = this.#waiting.at(-1);
    }
    stub.sales = [...this.#sales.values()];
    stub.subscribers = [...this.#subscribers.values()];
  }

  /** Returns the API, and notes when it first reports that money went back, because it reports no time of that. */
  observe(api: GumroadApi, now: () => number): GumroadApi {
    return {
      ...api,
      findSale: async (id, signal) => {
        const sale = await api.findSale(id, signal);
        for (const kind of listReturned(sale ?? {})) {
          const name = nameReturn(kind, id);
          if (!this.#reported.has(name)) this.#reported.set(name, now());
        }
        return sale;
      },
    };
  }

  /** The happenings of money that went back on the days on which Gumroad reported them. */
  toReported(happenings: readonly AnyHappening[]): AnyHappening[] {
    return happenings.map((each) => {
      if (!('payment' in each) || each.buyer.provider !== 'gumroad') return each;
      const day = this.#reported.get(nameReturn(each.kind, nameSale(each.payment)));
      return day === undefined ? each : { ...each, day };
    });
  }

  #apply(happening: AnyHappening): void {
    switch (happening.kind) {
      case 'paid':
        for (const sale of writeSales(happening)) this.#sales.set(String(sale['id']), sale);
        break;
      case 'state': {
        const id = nameSubscription(happening.buyer);
        this.#subscribers.set(id, writeSubscriber(happening, this.#subscribers.get(id)));
        break;
      }
      case 'refunded':
      case 'disputed':
      case 'won':
        this.#giveBack(happening);
    }
  }

  #giveBack({ kind, payment, amount }: Returned): void {
    const id = nameSale(payment);
    const isPartial = amount < payment.amount;
    const left = ((payment.amount - amount) / 100).toFixed(2);
    this.#sales.set(id, {
      ...this.#sales.get(id),
      ...writeMoneyBack(kind, isPartial),
      ...(kind === 'refunded' ? { amount_refundable_in_currency: left } : {}),
    });
  }
}

function nameReturn(kind: Returned['kind'], saleId: string): string {
  return `${kind} ${saleId}`;
}

function listReturned(sale: Fields): Returned['kind'][] {
  return [
    ...(sale['refunded'] === true || sale['partially_refunded'] === true
      ? (['refunded'] as const)
      : []),
    ...(sale['chargedback'] === true ? (['disputed'] as const) : []),
  ];
}
