import type { BillingEvent } from '../../facts.ts';
import { readEmail, readId, readObject, type JsonObject } from '../fields.ts';
import type { Seller } from './gumroad-api.ts';
import { digest, isAboutSale } from './ping.ts';

/** The objects that Gumroad returned; null: it has no such object, or was not asked. */
export interface LookedUp {
  readonly sale: JsonObject | null;
  readonly subscriber: JsonObject | null;
  readonly seller: Seller;
}

export const SALE_LOOKED_UP = 'sale.looked_up';
export const SUBSCRIBER_LOOKED_UP = 'subscriber.looked_up';
/** The money of a gift went back, whose license Gumroad does not name. */
export const GIFT_LOOKED_UP = 'gift.looked_up';

/** The fields of a sale that are stored. */
const SALE_FIELDS = [
  'id',
  'created_at',
  'seller_id',
  'purchaser_id',
  'product_id',
  'variants',
  'quantity',
  'price',
  'gumroad_fee',
  'currency_symbol',
  'amount_refundable_in_currency',
  'formatted_display_price',
  'email',
  'purchase_email',
  'full_name',
  'country_iso2',
  'subscription_id',
  'subscription_duration',
  'recurring_charge',
  'is_upgrade_purchase',
  'is_preorder_authorization',
  'is_gift_sender_purchase',
  'is_gift_receiver_purchase',
  'refunded',
  'partially_refunded',
  'chargedback',
  'disputed',
  'dispute_won',
];

const SUBSCRIBER_FIELDS = [
  'id',
  'status',
  'free_trial_ends_at',
  'cancelled_at',
  'ended_at',
  'failed_at',
];

/** What a sale does not contain of its membership. */
const MEMBERSHIP_FIELDS = ['recurrence', 'free_trial_ends_at'];

/** The ids that a ping asks about. */
export interface Question {
  readonly eventId: string;
  /** Null: it is about a subscription only. */
  readonly saleId: string | null;
  readonly subscriptionId: string | null;
}

/** The body of an event that contains an answer. */
interface LookUpBody extends JsonObject {
  readonly event_id: string;
  readonly resource_name: string;
}

/** Reads what a stored ping asks. Its subscription is asked for too, because a sale does not contain its state. */
export function readQuestion(
  { eventId, type }: Pick<BillingEvent, 'eventId' | 'type'>,
  body: unknown,
): Question {
  const ping = readObject(body);
  return {
    eventId,
    saleId: isAboutSale(type) ? readId(ping['sale_id']) : null,
    subscriptionId: readId(ping['subscription_id']),
  };
}

/**
 * Creates the bodies of the events that contain the answer: of the membership first, so that its sale creates a license in the right
 * state. An event has the id of its ping and of its content: a ping that is repeated without news is the same event, and a state
 * that returns after another ping is a new one.
 */
export function toLookUpBodies(
  question: Question,
  { sale, subscriber, seller }: LookedUp,
  askedAt: Date,
): LookUpBody[] {
  const membership = subscriber === null ? null : pick(subscriber, MEMBERSHIP_FIELDS);
  const isTest =
    sale === null
      ? isSeller(seller, subscriber?.['user_id'], subscriber?.['user_email'])
      : isSeller(seller, sale['purchaser_id'], sale['email']);
  const event = { ...question, isTest };
  return [
    ...(subscriber === null
      ? []
      : [
          toBody(event, SUBSCRIBER_LOOKED_UP, askedAt, {
            subscriber: pick(subscriber, SUBSCRIBER_FIELDS),
          }),
        ]),
    ...(sale === null
      ? []
      : [toBody(event, SALE_LOOKED_UP, askedAt, { sale: pick(sale, SALE_FIELDS), membership })]),
    ...(sale !== null && isReturnedGift(sale) ? [toGiftBody(event, sale, askedAt)] : []),
  ];
}

/**
 * Whether the account of a buyer is that of the seller: then Gumroad charges nothing. The mark of a ping is not used, because
 * anyone who knows the address can send it. A buyer without an account can type any address.
 */
function isSeller({ accountId, email }: Seller, buyerId: unknown, buyerEmail: unknown): boolean {
  const id = readId(buyerId);
  if (id === null) return false;
  if (accountId !== null) return id === accountId;
  return email !== null && readEmail(buyerEmail)?.toLowerCase() === email.toLowerCase();
}

/** Has the id of its sale, so that further pings ask no operator again. */
function toGiftBody(
  { isTest, saleId }: Question & { readonly isTest: boolean },
  sale: JsonObject,
  askedAt: Date,
): LookUpBody {
  return toBody({ isTest, eventId: `gift:${saleId ?? ''}` }, GIFT_LOOKED_UP, askedAt, {
    gift: pick(sale, GIFT_FIELDS),
  });
}

const GIFT_FIELDS = ['id', 'refunded', 'chargedback'];

function isReturnedGift(sale: JsonObject): boolean {
  return (
    sale['is_gift_sender_purchase'] === true &&
    (sale['refunded'] === true || sale['chargedback'] === true)
  );
}

function toBody(
  { eventId, isTest }: Pick<Question, 'eventId'> & { readonly isTest: boolean },
  type: string,
  askedAt: Date,
  content: JsonObject,
): LookUpBody {
  return {
    event_id: `${eventId}:${digest(content)}`,
    resource_name: type,
    received_at: askedAt.toISOString(),
    is_test: isTest,
    ...content,
  };
}

function pick(object: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(
    fields.flatMap((field) => (object[field] == null ? [] : [[field, object[field]]])),
  );
}
