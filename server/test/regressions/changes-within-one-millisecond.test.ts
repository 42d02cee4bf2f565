// Times of events were truncated to milliseconds: of two changes within one, the event id decided and not the time.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestService } from '../harness.ts';
import {
  paddleAdjustment,
  paddleCustomer,
  paddleSubscription,
  paddleTransactionCompleted,
  type PaddleEvent,
} from '../payment-providers/paddle-events.ts';
import { deliverPaddle, createPaddlePurchase } from '../payment-providers/paddle-steps.ts';

const service = await startTestService();

/** Fractions of a second in the formats of providers, older first, all within one millisecond. */
const FRACTIONS = [
  ['.500001', '.500002'],
  ['.500', '.500001'],
  ['.500999998', '.500999999'],
] as const;

/** Sets the times of two events and their order of delivery. */
type Order = (older: PaddleEvent, newer: PaddleEvent) => PaddleEvent[];

/** Both orders of delivery, with event ids in the order of the times and reversed. */
const ORDERS: Order[] = FRACTIONS.flatMap(([first, second]) =>
  [false, true].flatMap((swapsIds) => {
    const date: Order = (older, newer) => {
      const [low = '', high = ''] = [older.event_id, newer.event_id].sort();
      return [
        withFraction({ ...older, event_id: swapsIds ? high : low }, first),
        withFraction({ ...newer, event_id: swapsIds ? low : high }, second),
      ];
    };
    return [date, (older, newer) => date(older, newer).toReversed()];
  }),
);

function withFraction(event: PaddleEvent, fraction: string): PaddleEvent {
  return { ...event, occurred_at: event.occurred_at.replace(/\.\d+Z$/, `${fraction}Z`) };
}

async function deliverAll(events: readonly PaddleEvent[]): Promise<void> {
  for (const event of events) await deliverPaddle(service, event);
}

async function findLicense(transactionId: string) {
  const { rows } = await service.pool.query<Record<string, unknown>>(
    `select paused_at is not null as paused, refunded_at is not null as refunded, customer_email
     from licenses l join license_transactions t on t.license_id = l.id where transaction_id = $1`,
    [transactionId],
  );
  assert.equal(rows.length, 1);
  return rows[0];
}

test('the newer of two snapshots of a subscription within one millisecond applies', async () => {
  for (const order of ORDERS) {
    for (const [older, newer] of [
      ['resumed', 'paused'],
      ['paused', 'resumed'],
    ] as const) {
      const { transactionId, monthly } = createPaddlePurchase();
      const snapshots = order(
        paddleSubscription(older, monthly),
        paddleSubscription(newer, monthly),
      );
      await deliverAll([paddleTransactionCompleted(monthly), ...snapshots]);
      const expected = { paused: newer === 'paused', refunded: false, customer_email: null };
      assert.deepEqual(await findLicense(transactionId), expected, JSON.stringify(snapshots));
    }
  }
});

test('the newer of two states of a refund within one millisecond applies', async () => {
  for (const order of ORDERS) {
    for (const [older, newer] of [
      ['pending_approval', 'approved'],
      ['approved', 'rejected'],
    ] as const) {
      const { transactionId, once } = createPaddlePurchase();
      const common = { transactionId, action: 'refund', adjustmentId: `adj_${transactionId}` };
      const states = order(
        paddleAdjustment('created', { ...common, status: older }),
        paddleAdjustment('updated', { ...common, status: newer }),
      );
      await deliverAll([paddleTransactionCompleted(once), ...states]);
      const expected = { paused: false, refunded: newer === 'approved', customer_email: null };
      assert.deepEqual(await findLicense(transactionId), expected, JSON.stringify(states));
    }
  }
});

test('the newer of two addresses of a customer within one millisecond applies', async () => {
  for (const order of ORDERS) {
    for (const [older, newer] of [
      ['a@example.com', 'z@example.com'],
      ['z@example.com', 'a@example.com'],
    ] as const) {
      const { transactionId, customerId, once } = createPaddlePurchase();
      const changes = order(
        paddleCustomer('updated', { customerId, email: older }),
        paddleCustomer('updated', { customerId, email: newer }),
      );
      await deliverAll([...changes, paddleTransactionCompleted(once)]);
      const expected = { paused: false, refunded: false, customer_email: newer };
      assert.deepEqual(await findLicense(transactionId), expected, JSON.stringify(changes));
    }
  }
});
