import {
  LINKING_PAYMENT,
  type BillingLine,
  type CustomerDetails,
  type PaymentFact,
  type SubscriptionFact,
} from '../../facts.ts';
import { splitAmount } from '../../rules/revenue/measures.ts';
import type { Interpretation, ProviderEvent } from '../adapter.ts';
import { readOrderOptions } from '../custom-data.ts';
import {
  isObject,
  readCountry,
  readCurrency,
  readList,
  readObject,
  readQuantity,
  readTax,
  readWord,
  type JsonObject,
} from '../fields.ts';
import {
  nameSubscriptionOfOrder,
  readAmount,
  readContact,
  readCycle,
  readMillis,
  readProduct,
  readReference,
  requireReference,
} from './fields.ts';
import { readPeriod, toSnapshot } from './subscription.ts';

/** An item of an order. */
interface Item {
  readonly subscriptionId: string | null;
  /** The expanded subscription; null if only its id is there. */
  readonly subscription: JsonObject | null;
  /** Null: the billing cycle or the product is not in the event. */
  readonly line: BillingLine | null;
}

const NO_ITEMS =
  'FastSpring did not report what was sold. Enable webhook expansion, and send the event again.';

/** Reads a completed order as a purchase, and the states of the subscriptions that it started. */
export function readOrder(event: ProviderEvent): Interpretation {
  const order = event.data;
  const orderId = requireReference(order, 'order', event);
  if (order['completed'] === false) return 'The order is not completed.';
  const items = readItems(order);
  const [first, ...others] = items.filter(({ subscriptionId }) => subscriptionId !== null);
  const rest = items.filter((item) => !others.includes(item));
  // A part of a split order has the amounts of its lines: the return of one part must not pay back another.
  const common = readCommon(others.length > 0 ? { ...order, total: null } : order, event);
  const [part, ...parts] = splitOrder(order, [rest, ...others.map((item) => [item])]);
  return [
    {
      ...common,
      transactionId: orderId,
      ...toPurchase(first, rest, common.occurredAt),
      ...(others.length > 0 ? part : {}),
      ...(items.length === 0 ? { problem: NO_ITEMS } : {}),
    },
    ...others.map((item, index) => ({
      ...common,
      transactionId: nameSubscriptionOfOrder(orderId, item.subscriptionId ?? ''),
      ...toPurchase(item, [item], common.occurredAt),
      ...parts[index],
    })),
    ...items.flatMap(({ subscription }) => toSnapshots(subscription, event, null)),
  ];
}

/** Divides the money of an order, with its tax, among parts by the amounts of their lines; nothing if one is unknown. */
function splitOrder(
  order: JsonObject,
  parts: readonly (readonly Item[])[],
): readonly Pick<PaymentFact, 'part'>[] {
  const total = readAmount(order['total'], order['currency']);
  const amounts = parts.map((items) =>
    items.reduce((sum, { line }) => sum + (line?.total ?? Number.NaN), 0),
  );
  if (total === null || amounts.some((amount) => !(amount >= 0))) return [];
  const { tax } = readTax(readAmount(order['tax'], order['currency']), total);
  const totals = splitAmount(total, amounts);
  const taxes = tax === undefined ? [] : splitAmount(tax, amounts);
  return totals.map((own, index) => {
    const ownTax = taxes[index];
    return { part: { total: own, ...(ownTax === undefined ? {} : { tax: ownTax }) } };
  });
}

function toPurchase(
  recurring: Item | undefined,
  items: readonly Item[],
  startsAt: Date,
): Pick<PaymentFact, 'origin' | 'subscriptionId' | 'period' | 'lines'> {
  return {
    origin: 'purchase',
    subscriptionId: recurring?.subscriptionId ?? null,
    period: readPaidPeriod(recurring?.subscription ?? null, startsAt),
    lines: items.flatMap(({ line }) => line ?? []),
  };
}

/** Reads a charge of a subscription after its order: a renewal, or the difference for a change. */
export function readCharge(event: ProviderEvent): Interpretation {
  const { data } = event;
  const order = readObject(data['order']);
  const subscription = isObject(data['subscription']) ? data['subscription'] : null;
  const chargedAt =
    readMillis(data['timestamp']) ?? readMillis(order['changed']) ?? event.occurredAt;
  const charge: PaymentFact = {
    ...readCommon({ ...order, ...data }, event),
    transactionId: requireReference(data['order'], 'order', event),
    subscriptionId: requireReference(data['subscription'], 'subscription', event),
    origin: 'renewal',
    occurredAt: chargedAt,
    period: readPaidPeriod(subscription, chargedAt),
    lines: subscription === null ? [] : readChargedLines(data, subscription, event),
  };
  return [charge, ...toSnapshots(subscription, event, chargedAt)];
}

function readChargedLines(
  data: JsonObject,
  subscription: JsonObject,
  event: ProviderEvent,
): BillingLine[] {
  const lineId = requireReference(subscription, 'subscription', event);
  const [line] = toSnapshot(subscription, event)?.lines ?? [];
  if (line === undefined || line.cycle === null) return [];
  const item = readItems(readObject(data['order'])).find(
    ({ subscriptionId }) => subscriptionId === lineId,
  );
  const total = item?.line?.total ?? readAmount(data['total'], data['currency']);
  return [{ ...line, total }];
}

function toSnapshots(
  subscription: JsonObject | null,
  event: ProviderEvent,
  atLeast: Date | null,
): SubscriptionFact[] {
  const snapshot = subscription === null ? null : toSnapshot(subscription, event, atLeast);
  return snapshot === null ? [] : [snapshot];
}

function readPaidPeriod(subscription: JsonObject | null, startsAt: Date): PaymentFact['period'] {
  const endsAt = subscription === null ? null : (readPeriod(subscription)?.endsAt ?? null);
  return endsAt === null || endsAt <= startsAt ? null : { startsAt, endsAt };
}

type Common = Omit<PaymentFact, 'transactionId' | 'origin' | 'subscriptionId' | 'lines'>;

function readCommon(order: JsonObject, event: ProviderEvent): Common {
  const { account, currency, language } = order;
  const total = readAmount(order['total'], currency);
  const recipient = findRecipient(order);
  const holder = isObject(account) ? account['contact'] : undefined;
  return {
    ...LINKING_PAYMENT,
    customerId:
      readReference(recipient?.['account'], 'account') ?? readReference(account, 'account'),
    customer: readBuyer([recipient, order['customer'], holder], language),
    occurredAt: readMillis(order['changed']) ?? event.occurredAt,
    ...readOrderOptions(order['tags']),
    total,
    ...readCurrency(currency),
    ...readTax(readAmount(order['tax'], currency), total),
    ...readCountry(readObject(order['address'])['country'] ?? readObject(account)['country']),
    ...readWord(order['status']),
  };
}

function readBuyer(contacts: readonly unknown[], language: unknown): CustomerDetails {
  const read = contacts.map((contact) => readContact(contact, language));
  return read.find(({ email }) => email !== null) ?? readContact(undefined, language);
}

/** Finds the recipient, who is not the buyer of a gift. */
function findRecipient(order: JsonObject): JsonObject | null {
  const [first] = readList(order['recipients']).map((each) => readObject(each)['recipient']);
  return isObject(first) ? first : null;
}

function readItems(order: JsonObject): Item[] {
  return readList(order['items']).map((value) => {
    const item = readObject(value);
    const own = item['subscription'];
    const subscriptionId = readReference(own, 'subscription');
    const subscription = isObject(own) ? own : null;
    const line = readLine(item, subscriptionId, subscription, order['currency']);
    return { subscriptionId, subscription, line };
  });
}

/** A line of a subscription has the id of the subscription, whose product may change. */
function readLine(
  item: JsonObject,
  subscriptionId: string | null,
  subscription: JsonObject | null,
  currency: unknown,
): BillingLine | null {
  const priceId = readProduct(item['product']);
  const cycle = subscription === null ? null : readCycle(subscription);
  if (priceId === null || (subscriptionId !== null && cycle === null)) return null;
  return {
    lineId: subscriptionId ?? priceId,
    priceId,
    quantity: readQuantity(item['quantity']),
    cycle,
    total: readAmount(item['subtotal'], currency),
  };
}
