import { createHmac, randomBytes } from 'node:crypto';

import type { NextBody, SignedBody } from './http-connection.ts';

/** The webhook secret of the service under load. */
export const BILLING_SECRET = 'pdl_ntfset_benchmark';

/** A price of the example catalogue. */
const PRICE = 'pri_01aaaaaaaaaaaaaaaaaaaaaaaa';

/**
 * Creates paid purchases of different checkouts and buyers, as Paddle Billing sends them: each creates a license. They
 * are signed when they are sent, because a signature is valid for seconds.
 */
export function purchaseWebhooks(): NextBody {
  const run = randomBytes(5).toString('hex');
  let count = 0;
  return () => sign(writePurchase(`${run}${(count++).toString(36).padStart(16, '0')}`));
}

function sign(body: string): SignedBody {
  return { body, headerLines: `Billing-Signature: ${createSignature(body)}\r\n` };
}

/** Creates the signature of a body at this time. */
export function createSignature(body: string): string {
  const seconds = Math.floor(Date.now() / 1000);
  const digest = createHmac('sha256', BILLING_SECRET).update(`${seconds}:${body}`).digest('hex');
  return `ts=${seconds};h1=${digest}`;
}

/** Writes a paid purchase of now; its transaction is `txn_<id>`, its customer `ctm_<id>`. */
export function writePurchase(id: string): string {
  const now = new Date().toISOString();
  const totals = {
    subtotal: '4900',
    discount: '0',
    tax: '931',
    total: '5831',
    grand_total: '5831',
  };
  const price = {
    id: PRICE,
    product_id: 'pro_01aaaaaaaaaaaaaaaaaaaaaaaa',
    description: 'Personal',
    type: 'standard',
    billing_cycle: null,
    trial_period: null,
    unit_price: { amount: '4900', currency_code: 'EUR' },
    quantity: { minimum: 1, maximum: 100 },
    status: 'active',
  };
  return JSON.stringify({
    event_id: `evt_${id}`,
    event_type: 'transaction.completed',
    occurred_at: now,
    notification_id: `ntf_${id}`,
    data: {
      id: `txn_${id}`,
      status: 'completed',
      customer_id: `ctm_${id}`,
      custom_data: null,
      currency_code: 'EUR',
      origin: 'web',
      subscription_id: null,
      collection_mode: 'automatic',
      billing_period: null,
      items: [{ price, quantity: 1, proration: null }],
      details: {
        totals,
        line_items: [{ id: `txnitm_${id}`, price_id: PRICE, quantity: 1, totals }],
      },
      payments: [],
      created_at: now,
      updated_at: now,
      billed_at: now,
    },
  });
}
