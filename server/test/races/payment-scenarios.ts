import {
  PADDLE_MONTH,
  paddleAdjustment,
  paddleCustomer,
  paddleDelivery,
  paddleId,
  paddlePeriod,
  paddleSubscription,
  paddleTransactionCompleted,
} from '../payment-providers/paddle-events.ts';
import {
  stripeCheckoutCompleted,
  stripeCustomer,
  stripeDelivery,
  stripeRefund,
} from '../payment-providers/stripe-events.ts';
import { TEST_WEBHOOK_SECRETS } from '../harness.ts';
import { TEST_PRICES } from '../test-catalog.ts';
import { DAY_MS, fromStart, TEST_START } from '../test-clock.ts';

/** A license as seen by buyer and seller. */
export interface SeenLicense {
  /** As `check` returns it for the checkout. */
  readonly status: string;
  readonly expires_at: string | null;
  readonly product_type: string | null;
  readonly is_key_shown: boolean;
  readonly tier: string;
  readonly features: readonly string[];
  readonly max_activations: number;
  readonly customer_email: string | null;
  readonly customer_name: string | null;
}

/** The webhooks of a purchase and the licenses that they lead to in any order. */
export interface PaymentScenario {
  readonly path: string;
  /** The deliveries, signed at a time. */
  readonly deliveries: (at: Date) => readonly SignedDelivery[];
  /** Finds the licenses. */
  readonly checkoutId: string;
  /** Other ids of the provider, which do not find them. */
  readonly otherIds: readonly string[];
  readonly ends: readonly SeenLicense[];
}

export interface SignedDelivery {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const [PADDLE_SECRET = ''] = TEST_WEBHOOK_SECRETS.paddle;
const [STRIPE_SECRET = ''] = TEST_WEBHOOK_SECRETS.stripe;

const PERSONAL: SeenLicense = {
  status: 'active',
  expires_at: null,
  product_type: 'personal',
  is_key_shown: true,
  tier: 'personal',
  features: ['history', 'gpu'],
  max_activations: 2,
  customer_email: 'new@example.org',
  customer_name: 'Ann Example',
};
const SELLERS: SeenLicense = {
  ...PERSONAL,
  product_type: 'sellers',
  tier: 'sellers',
  features: ['history', 'gpu', 'fleet', 'alerts'],
  max_activations: 10,
};

/** The end of all scenarios. */
export const SCENARIOS_END = days(40);

/** Each call creates a new purchase. */
export const paymentScenarios: Readonly<Record<string, () => PaymentScenario>> = {
  'one purchase, of a buyer whose address changes': () => {
    const { ids, buyer } = anyPurchase();
    return paddleScenario(
      ids,
      [paddleTransactionCompleted({ ...ids, lines: once }), ...buyer],
      [PERSONAL],
    );
  },

  'two products in one purchase, five of one of them': () => {
    const { ids, buyer } = anyPurchase();
    const lines = [
      { priceId: TEST_PRICES.sellers },
      { priceId: TEST_PRICES.personal, quantity: 5 },
    ];
    const paid = paddleTransactionCompleted({ ...ids, lines });
    return paddleScenario(ids, [paid, ...buyer], [SELLERS, { ...PERSONAL, max_activations: 10 }]);
  },

  'subscribed, renewed and upgraded': () => {
    const { ids, buyer, begun, of } = anySubscription();
    const renewalId = paddleId('txn');
    const period = paddlePeriod(days(31), 31);
    const upgraded = {
      ...of,
      period,
      lines: [{ priceId: TEST_PRICES.sellers, cycle: PADDLE_MONTH }],
    };
    const changeId = paddleId('txn');
    return paddleScenario(
      { ...ids, otherIds: [renewalId, changeId] },
      [
        ...begun,
        ...buyer,
        paddleSubscription('updated', { ...of, transactionId: null, occurredAt: days(31), period }),
        paddleTransactionCompleted({
          ...of,
          transactionId: renewalId,
          origin: 'subscription_recurring',
          occurredAt: days(31),
          period,
        }),
        paddleSubscription('updated', { ...upgraded, transactionId: null, occurredAt: days(33) }),
        paddleTransactionCompleted({
          ...upgraded,
          transactionId: changeId,
          origin: 'subscription_update',
          occurredAt: days(33),
        }),
      ],
      [{ ...SELLERS, expires_at: fromStart(62 * DAY_MS) }],
    );
  },

  'subscribed and canceled': () => {
    const { ids, buyer, begun, of } = anySubscription();
    const over = { ...of, transactionId: null, occurredAt: days(9) };
    const end = { ...PERSONAL, status: 'canceled', expires_at: fromStart(9 * DAY_MS) };
    return paddleScenario(ids, [...begun, ...buyer, paddleSubscription('canceled', over)], [end]);
  },

  'a charge in the subscription that is also reported as a purchase': () => {
    const { ids, buyer, of } = anySubscription();
    const laterId = paddleId('txn');
    const period = paddlePeriod(TEST_START, 62);
    return paddleScenario(
      { ...ids, otherIds: [laterId] },
      [
        paddleTransactionCompleted({ ...of, period }),
        paddleTransactionCompleted({ ...of, transactionId: laterId, occurredAt: days(1), period }),
        ...buyer,
      ],
      [{ ...PERSONAL, expires_at: fromStart(62 * DAY_MS) }],
    );
  },

  'refund after its approval': () => {
    const { ids, buyer } = anyPurchase();
    const refund = { ...ids, adjustmentId: paddleId('adj') };
    return paddleScenario(
      ids,
      [
        paddleTransactionCompleted({ ...ids, lines: once }),
        ...buyer,
        paddleAdjustment('created', { ...refund, status: 'pending_approval', occurredAt: days(2) }),
        paddleAdjustment('updated', { ...refund, occurredAt: days(3) }),
      ],
      [{ ...PERSONAL, status: 'refunded', is_key_shown: false }],
    );
  },

  'disputed, won, and disputed again': () => {
    const { ids, buyer } = anyPurchase();
    const first = { ...ids, adjustmentId: paddleId('adj'), action: 'chargeback' };
    const back = { ...ids, adjustmentId: paddleId('adj'), action: 'chargeback_reverse' };
    return paddleScenario(
      ids,
      [
        paddleTransactionCompleted({ ...ids, lines: once }),
        ...buyer,
        paddleAdjustment('created', { ...first, occurredAt: days(2) }),
        paddleAdjustment('created', { ...back, occurredAt: days(4) }),
        paddleAdjustment('updated', { ...first, status: 'reversed', occurredAt: days(4) }),
        paddleAdjustment('created', {
          ...first,
          adjustmentId: paddleId('adj'),
          occurredAt: days(6),
        }),
      ],
      [{ ...PERSONAL, status: 'suspended' }],
    );
  },

  'Stripe: refund created and completed within one second': stripeRefunded,
};

const once = [{ priceId: TEST_PRICES.personal }];

function days(count: number): Date {
  return new Date(TEST_START.getTime() + count * DAY_MS);
}

interface PurchaseIds {
  readonly transactionId: string;
  readonly otherIds: readonly string[];
}

/** The ids of a purchase, and two events about its buyer, of which the newer address counts. */
function anyPurchase() {
  const customerId = paddleId('ctm');
  const ids = { transactionId: paddleId('txn'), customerId, otherIds: [] };
  const newer = { customerId, email: 'new@example.org', occurredAt: days(5) };
  const buyer = [
    paddleCustomer('created', { customerId, email: 'old@example.org' }),
    paddleCustomer('updated', newer),
  ];
  return { ids, buyer };
}

/** A subscription whose checkout contains neither period nor subscription. */
function anySubscription() {
  const { ids, buyer } = anyPurchase();
  const lines = [{ priceId: TEST_PRICES.personal, cycle: PADDLE_MONTH }];
  const of = { ...ids, subscriptionId: paddleId('sub'), lines };
  const begun = [
    paddleTransactionCompleted({ ...of, subscriptionId: null }),
    paddleSubscription('created', { ...of, period: paddlePeriod(TEST_START, 31) }),
  ];
  return { ids, buyer, of, begun };
}

function paddleScenario(
  { transactionId, otherIds }: PurchaseIds,
  events: readonly unknown[],
  ends: readonly SeenLicense[],
): PaymentScenario {
  return {
    path: '/api/v1/webhooks/billing',
    deliveries: (at) =>
      endAt(events, at).map((event) => paddleDelivery(event, { secret: PADDLE_SECRET, at })),
    checkoutId: transactionId,
    otherIds,
    ends,
  };
}

/** Moves the times of events so that the scenario ends at a time: services reject events from the future. */
function endAt<Event>(events: readonly Event[], at: Date): Event[] {
  const difference = at.getTime() - SCENARIOS_END.getTime();
  if (difference === 0) return [...events];
  const move = (_: string, value: unknown): unknown => {
    if (typeof value === 'number' && value > TEST_START.getTime() / 2_000) {
      return value + Math.floor(difference / 1_000);
    }
    const isTime = typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T/.test(value);
    return isTime ? new Date(new Date(value).getTime() + difference).toISOString() : value;
  };
  const moved: Event[] = JSON.parse(JSON.stringify(events, move));
  return moved;
}

let purchases = 0;

function stripeRefunded(): PaymentScenario {
  const number = (purchases += 1);
  const [checkoutId, customerId] = [`cs_${number}`, `cus_${number}`];
  const [paymentIntentId, chargeId] = [`pi_${number}`, `ch_${number}`];
  const refund = { refundId: `re_${number}`, paymentIntentId, chargeId, at: days(2) };
  const events = [
    stripeCheckoutCompleted({ checkoutId, paymentIntentId, customerId, priceId: 'price_personal' }),
    stripeCustomer('created', { customerId, email: 'old@example.org' }),
    stripeCustomer('updated', { customerId, email: 'new@example.org', at: days(5) }),
    // The ids sort opposite to the order of the events.
    stripeRefund('created', { ...refund, status: 'pending', eventId: `evt_z${number}` }),
    stripeRefund('updated', { ...refund, eventId: `evt_a${number}` }),
  ];
  return {
    path: '/api/v1/webhooks/stripe',
    deliveries: (at) =>
      endAt(events, at).map((event) => stripeDelivery(event, { secret: STRIPE_SECRET, at })),
    checkoutId,
    otherIds: [paymentIntentId, chargeId],
    ends: [{ ...PERSONAL, status: 'refunded', is_key_shown: false }],
  };
}
