/** One event of every type that Paddle Billing has, with the fields of the real ones. */
import {
  paddleAdjustment,
  paddleCustomer,
  paddleEvent,
  paddleId,
  paddleSubscription,
  paddleTransaction,
  type PaddleEvent,
} from './paddle-events.ts';
import { writePrice, writeProduct } from './paddle-event-parts.ts';

const AT = '2027-03-01T12:00:00.000000Z';
const ID = paddleId('pro', 'sample').slice('pro_'.length);
const TIMES = { created_at: AT, updated_at: AT };

/** Types without effect on licenses. */
const OTHERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'address.created': address(),
  'address.imported': address(),
  'address.updated': address(),
  'api_key.created': apiKey('active'),
  'api_key.expired': apiKey('expired'),
  'api_key.expiring': apiKey('active'),
  'api_key.revoked': apiKey('revoked'),
  'api_key.updated': apiKey('active'),
  'api_key_exposure.created': {
    id: `apkexp_${ID}`,
    api_key_id: `apikey_${ID}`,
    risk_level: 'low',
    action_taken: 'none',
    source: 'github',
    reference: 'https://example.com/code',
    description: null,
    ...TIMES,
  },
  'business.created': business(),
  'business.imported': business(),
  'business.updated': business(),
  'client_token.created': clientToken('active'),
  'client_token.revoked': clientToken('revoked'),
  'client_token.updated': clientToken('active'),
  'discount.created': discount(),
  'discount.imported': discount(),
  'discount.updated': discount(),
  'discount_group.created': discountGroup(),
  'discount_group.updated': discountGroup(),
  'payment_method.deleted': paymentMethod(),
  'payment_method.saved': paymentMethod(),
  'payout.created': payout('unpaid'),
  'payout.paid': payout('paid'),
  'price.created': writePrice({ priceId: paddleId('pri', 'sample') }),
  'price.imported': writePrice({ priceId: paddleId('pri', 'sample') }),
  'price.updated': writePrice({ priceId: paddleId('pri', 'sample') }),
  'product.created': writeProduct('sample'),
  'product.imported': writeProduct('sample'),
  'product.updated': writeProduct('sample'),
  'report.created': report('pending'),
  'report.updated': report('ready'),
};

/** Creates one event of each type with new event ids. */
export function createPaddleSamples(): PaddleEvent[] {
  return [
    paddleTransaction('created'),
    paddleTransaction('ready'),
    paddleTransaction('updated'),
    paddleTransaction('billed'),
    paddleTransaction('paid'),
    paddleTransaction('completed'),
    paddleTransaction('canceled'),
    paddleTransaction('past_due'),
    paddleTransaction('payment_failed'),
    paddleTransaction('revised'),
    paddleSubscription('created'),
    paddleSubscription('imported'),
    paddleSubscription('trialing'),
    paddleSubscription('activated'),
    paddleSubscription('updated'),
    paddleSubscription('past_due'),
    paddleSubscription('paused'),
    paddleSubscription('resumed'),
    paddleSubscription('canceled'),
    paddleAdjustment('created', { status: 'pending_approval' }),
    paddleAdjustment('updated'),
    paddleCustomer('created'),
    paddleCustomer('imported'),
    paddleCustomer('updated'),
    ...Object.entries(OTHERS).map(([type, data]) => paddleEvent(type, data)),
  ];
}

function address(): Readonly<Record<string, unknown>> {
  return {
    id: paddleId('add', 'sample'),
    customer_id: paddleId('ctm', 'sample'),
    description: null,
    first_line: '1 Example Street',
    second_line: null,
    city: 'Exampleton',
    postal_code: 'EX1 2MP',
    region: null,
    country_code: 'GB',
    custom_data: null,
    status: 'active',
    import_meta: null,
    ...TIMES,
  };
}

function apiKey(status: string): Readonly<Record<string, unknown>> {
  return {
    id: `apikey_${ID}`,
    name: 'The shop',
    description: null,
    key: 'pdl_live_apikey_***',
    status,
    permissions: ['customer.read'],
    expires_at: AT,
    last_used_at: null,
    ...TIMES,
  };
}

function business(): Readonly<Record<string, unknown>> {
  return {
    id: `biz_${ID}`,
    customer_id: paddleId('ctm', 'sample'),
    name: 'Example Ltd.',
    company_number: null,
    tax_identifier: null,
    status: 'active',
    contacts: [{ name: 'Ann Example', email: 'ann@example.com' }],
    custom_data: null,
    import_meta: null,
    ...TIMES,
  };
}

function clientToken(status: string): Readonly<Record<string, unknown>> {
  return {
    id: `ctkn_${ID}`,
    name: 'The shop',
    description: null,
    token: 'live_***',
    status,
    revoked_at: status === 'revoked' ? AT : null,
    ...TIMES,
  };
}

function discount(): Readonly<Record<string, unknown>> {
  return {
    id: `dsc_${ID}`,
    status: 'active',
    description: 'Ten in a hundred',
    enabled_for_checkout: true,
    code: 'TEN',
    type: 'percentage',
    amount: '10',
    currency_code: null,
    recur: false,
    maximum_recurring_intervals: null,
    usage_limit: null,
    restrict_to: null,
    expires_at: null,
    times_used: 0,
    custom_data: null,
    import_meta: null,
    ...TIMES,
  };
}

function discountGroup(): Readonly<Record<string, unknown>> {
  return { id: `dsg_${ID}`, name: 'Spring', status: 'active', import_meta: null, ...TIMES };
}

function paymentMethod(): Readonly<Record<string, unknown>> {
  return {
    id: `paymtd_${ID}`,
    customer_id: paddleId('ctm', 'sample'),
    address_id: paddleId('add', 'sample'),
    type: 'card',
    origin: 'saved_during_purchase',
    saved_at: AT,
    updated_at: AT,
    deletion_reason: null,
  };
}

function payout(status: string): Readonly<Record<string, unknown>> {
  return { id: `pay_${ID}`, status, amount: '10000', currency_code: 'USD' };
}

function report(status: string): Readonly<Record<string, unknown>> {
  return {
    id: `rep_${ID}`,
    status,
    rows: status === 'ready' ? 10 : null,
    type: 'transactions',
    filters: [{ name: 'updated_at', operator: 'gte', value: AT }],
    expires_at: null,
    ...TIMES,
  };
}
