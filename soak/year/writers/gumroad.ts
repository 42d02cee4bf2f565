import {
  gumroadMembershipPing,
  gumroadMembershipSale,
  gumroadPing,
  gumroadSale,
  gumroadSubscriber,
} from '../../../server/test/payment-providers/gumroad-sales.ts';
import {
  toDate,
  type AnyHappening,
  type Buyer,
  type Paid,
  type Plan,
  type State,
} from '../happenings.ts';
import { feeOf } from '../money.ts';
import { numberCustomer, type Writer } from './delivery.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Returns the id of a plan's product, which the catalogue has as a price. */
export const nameProduct = ({ name }: Plan): string => `gum-${name}==`;
export const nameSubscription = ({ number }: Buyer): string => `gumsub-${number}==`;
/** Returns the id of a sale, in which the number of its buyer is. */
export const nameSale = ({ buyer, number }: Paid): string => `sale_${buyer.number}_${number}`;
const nameGift = ({ buyer, number }: Paid): string => `gift_${buyer.number}_${number}`;

/** Writes the pings of Gumroad, which are forms. It reports neither a charge that failed nor the state of a membership that runs. */
export const writeGumroad: Writer = (happening) => {
  switch (happening.kind) {
    case 'paid':
      return writeSales(happening).map((sale, index) =>
        toEvent(happening, gumroadPing('sale', sale), index === 0 ? happening : null),
      );
    case 'state':
      return happening.status === 'canceled' ? [toEvent(happening, writeEnd(happening))] : [];
    case 'refunded':
    case 'disputed':
    case 'won': {
      const [sale = {}] = writeSales(happening.payment);
      const change = writeMoneyBack(happening.kind);
      return [toEvent(happening, gumroadPing(RESOURCES[happening.kind], { ...sale, ...change }))];
    }
  }
};

const RESOURCES = { refunded: 'refund', disputed: 'dispute', won: 'dispute_won' } as const;

function toEvent(
  { day, buyer }: AnyHappening,
  ping: Record<string, string>,
  payment: Paid | null = null,
) {
  const eventId = `gumroad ${ping['sale_id'] ?? nameSubscription(buyer)}`;
  return { eventId, day, body: new URLSearchParams(ping).toString(), payment };
}

function writeEnd({ buyer, day }: State): Record<string, string> {
  return gumroadMembershipPing('subscription_ended', {
    subscription_id: nameSubscription(buyer),
    ended_at: toDate(day).toISOString(),
    ended_reason: 'cancelled',
  });
}

/** What Gumroad's API returns about a payment: a gift has a sale for its recipient, too. */
export function writeSales(paid: Paid): Fields[] {
  if (paid.plan.cycle !== null) return [gumroadMembershipSale(writeMembershipSale(paid))];
  const sale = gumroadSale(writeSale(paid));
  const { giftTo = null } = paid.buyer;
  if (giftTo === null) return [sale];
  const received = { id: nameGift(paid), price: 0, gumroad_fee: 0, purchase_email: giftTo };
  return [
    { ...sale, is_gift_sender_purchase: true },
    { ...sale, ...received, email: giftTo, is_gift_receiver_purchase: true },
  ];
}

function writeSale(paid: Paid): Fields {
  const { buyer, plan, amount, day, quantity = 1 } = paid;
  return {
    id: nameSale(paid),
    created_at: toDate(day).toISOString(),
    product_id: nameProduct(plan),
    price: amount,
    gumroad_fee: feeOf(buyer.provider, amount),
    currency_symbol: '$',
    amount_refundable_in_currency: (amount / 100).toFixed(2),
    quantity,
    email: buyer.email,
    purchase_email: buyer.email,
    purchaser_id: String(numberCustomer(buyer)),
    full_name: 'A Buyer',
    country_iso2: buyer.market.country,
    order_id: buyer.number * 1_000 + paid.number,
  };
}

function writeMembershipSale(paid: Paid): Fields {
  return {
    ...writeSale(paid),
    variants: {},
    subscription_id: nameSubscription(paid.buyer),
    subscription_duration: paid.plan.cycle === 'year' ? 'yearly' : 'monthly',
    recurring_charge: paid.origin === 'renewal',
    is_upgrade_purchase: paid.origin === 'change',
  };
}

/** Returns the fields of a sale that change when its money goes back. @param isPartial whether only a part does */
export function writeMoneyBack(
  kind: 'refunded' | 'disputed' | 'won',
  isPartial = false,
): Readonly<Record<string, boolean>> {
  switch (kind) {
    case 'refunded':
      return isPartial ? { partially_refunded: true } : { refunded: true };
    case 'disputed':
      return { disputed: true, chargedback: true };
    case 'won':
      return { chargedback: false, disputed: true, dispute_won: true };
  }
}

const STATUSES = {
  active: 'alive',
  trialing: 'alive',
  past_due: 'pending_failure',
  /** A membership cannot be paused. */
  paused: 'cancelled',
  canceled: 'cancelled',
} as const;

/** What Gumroad's API returns about a membership. @param before what it returned before */
export function writeSubscriber(state: State, before: Fields = {}): Fields {
  const { buyer, status, day, until, plan } = state;
  const time = toDate(day).toISOString();
  return gumroadSubscriber({
    ...before,
    id: nameSubscription(buyer),
    user_email: buyer.email,
    recurrence: plan.cycle === 'year' ? 'yearly' : 'monthly',
    status: STATUSES[status],
    ...(status === 'trialing' ? { free_trial_ends_at: toDate(until).toISOString() } : {}),
    ...(status === 'canceled' ? { cancelled_at: time, ended_at: time } : {}),
  });
}
