/** Paddle's events about subscriptions. Tests import `paddle-events.ts`. */
import {
  paddleId,
  writePeriod,
  writePrice,
  writeProduct,
  writeTime,
  type PaddleLine,
  type PaddlePeriod,
  PADDLE_IDS,
  PADDLE_MONTH,
  paddlePeriod,
  paddleEvent,
  type PaddleEvent,
  type PaddleEventOptions,
} from './paddle-event-parts.ts';
import { TEST_START } from '../test-clock.ts';

/** The types of `subscription.*`, without that prefix. */
export type PaddleSubscriptionType =
  | 'activated'
  | 'canceled'
  | 'created'
  | 'imported'
  | 'past_due'
  | 'paused'
  | 'resumed'
  | 'trialing'
  | 'updated';

export interface PaddleSubscriptionOptions extends PaddleEventOptions {
  readonly subscriptionId?: string;
  /** The transaction of the checkout; null if there was none. */
  readonly transactionId?: string | null;
  readonly customerId?: string;
  /** Default: by the type; `active` for created, updated and imported. */
  readonly status?: string;
  /** Default: a month from `occurredAt`; null while paused and once canceled, as at Paddle. */
  readonly period?: PaddlePeriod | null;
  /** Default: `occurredAt` if paused, else null. */
  readonly pausedAt?: Date | null;
  /** Default: `occurredAt` if canceled, else null. */
  readonly canceledAt?: Date | null;
  readonly scheduledChange?: { readonly action: string; readonly effectiveAt: Date } | null;
  readonly lines?: readonly PaddleLine[];
  readonly customData?: Readonly<Record<string, unknown>> | null;
}

/** Any `subscription.*`, with one monthly line by default. */
export function paddleSubscription(
  type: PaddleSubscriptionType,
  options: PaddleSubscriptionOptions = {},
): PaddleEvent {
  const status = options.status ?? SUBSCRIPTION_STATUSES[type];
  const lines = options.lines ?? [{ priceId: PADDLE_IDS.price, cycle: PADDLE_MONTH }];
  const { subscriptionId, transactionId, customerId } = options;
  const data = {
    id: subscriptionId ?? PADDLE_IDS.subscription,
    status,
    transaction_id: transactionId === undefined ? PADDLE_IDS.transaction : transactionId,
    customer_id: customerId ?? PADDLE_IDS.customer,
    address_id: paddleId('add', 'default'),
    business_id: null,
    currency_code: 'USD',
    ...writeSubscriptionTimes(status, options),
    discount: null,
    collection_mode: 'automatic',
    billing_details: null,
    billing_cycle: lines[0]?.cycle ?? PADDLE_MONTH,
    scheduled_change: writeScheduledChange(options.scheduledChange ?? null),
    items: lines.map((line) => writeSubscriptionItem(line, status)),
    custom_data: options.customData ?? null,
    import_meta: null,
  };
  return paddleEvent(`subscription.${type}`, data, options);
}

const SUBSCRIPTION_STATUSES: Readonly<Record<PaddleSubscriptionType, string>> = {
  activated: 'active',
  canceled: 'canceled',
  created: 'active',
  imported: 'active',
  past_due: 'past_due',
  paused: 'paused',
  resumed: 'active',
  trialing: 'trialing',
  updated: 'active',
};

/** As in Paddle's samples, paused and canceled subscriptions have no period and no next charge. */
function writeSubscriptionTimes(
  status: string,
  { occurredAt = TEST_START, ...options }: PaddleSubscriptionOptions,
): Readonly<Record<string, unknown>> {
  const isOff = status === 'paused' || status === 'canceled';
  const period = options.period === undefined && !isOff ? paddlePeriod(occurredAt) : options.period;
  const { pausedAt = status === 'paused' ? occurredAt : null } = options;
  const { canceledAt = status === 'canceled' ? occurredAt : null } = options;
  const endsSoon = options.scheduledChange?.action === 'cancel';
  return {
    created_at: writeTime(TEST_START),
    updated_at: writeTime(occurredAt),
    started_at: writeTime(TEST_START),
    first_billed_at: writeTime(TEST_START),
    next_billed_at: isOff || endsSoon ? null : writeTime(period?.endsAt ?? null),
    paused_at: writeTime(pausedAt),
    canceled_at: writeTime(canceledAt),
    current_billing_period: writePeriod(period ?? null),
  };
}

function writeScheduledChange(
  change: { readonly action: string; readonly effectiveAt: Date } | null,
): Readonly<Record<string, unknown>> | null {
  if (change === null) return null;
  return { action: change.action, effective_at: writeTime(change.effectiveAt), resume_at: null };
}

function writeSubscriptionItem(
  line: PaddleLine,
  status: string,
): Readonly<Record<string, unknown>> {
  return {
    // As in Paddle's samples, items of a canceled subscription stay active.
    status: status === 'trialing' ? 'trialing' : 'active',
    quantity: line.quantity ?? 1,
    recurring: line.cycle !== null,
    created_at: writeTime(TEST_START),
    updated_at: writeTime(TEST_START),
    previously_billed_at: writeTime(TEST_START),
    next_billed_at: null,
    trial_dates: null,
    price: writePrice({ cycle: PADDLE_MONTH, ...line }),
    product: writeProduct(line.priceId),
  };
}
