import { randomUUID } from 'node:crypto';

import { addEndpoint } from '../../../server/src/features/outgoing-webhooks/add-endpoint.ts';
import { recordOwnerEmail } from '../../../server/src/features/key-emails/owner-email-queries.ts';
import { hashAddress } from '../../../server/src/features/suppressions/address-hash.ts';

import type { TestService } from '../../../server/test/harness.ts';
import {
  paddleCustomer,
  paddleTransactionCompleted,
} from '../../../server/test/payment-providers/paddle-events.ts';
import {
  createPaddlePurchase,
  deliverPaddle,
} from '../../../server/test/payment-providers/paddle-steps.ts';
import type { Seed } from './create-world.ts';

/** Stored texts of others: markup, text from right to left, and 10,000 characters. */
export const HOSTILE = `<script>document.title='owned'</script><img src=x onerror=alert(1)> \u202Eלא ‮${'x'.repeat(10_000)}`;

const CHANGE = { actor: 'cli:root sudo:grace', reason: 'set up the shop' };

/** Payments in each state, endpoints with deliveries, and mails of each kind. */
export const seedSales: Seed = async (service) => {
  const endpointId = await seedEndpoint(service);
  const payments = await seedPayments(service);
  await seedDeliveries(service, endpointId);
  await seedMails(service, payments.salesTransactionId);
  const { rows } = await service.pool.query(
    `select message_id from webhook_deliveries where state = 'failed' and endpoint_id = $1`,
    [endpointId],
  );
  return { ...payments, salesEndpointId: endpointId, salesMessageId: String(rows[0]?.message_id) };
};

async function seedEndpoint({ context }: TestService): Promise<string> {
  const url = 'https://crm.example.com/hooks/latchkey';
  const order = { url, eventTypes: [], description: 'Customer database' };
  const { endpoint } = await addEndpoint(context, order, CHANGE);
  return endpoint.id;
}

async function seedPayments(service: TestService) {
  const occurredAt = service.clock.now();
  const ada = createPaddlePurchase();
  const { transactionId } = ada;
  const person = { ...ada, email: 'ada@example.com', name: 'Ada Lovelace' };
  const paid = paddleTransactionCompleted({ ...ada.monthly, occurredAt });
  const renewal = paddleTransactionCompleted({
    ...ada.monthly,
    transactionId: 'txn_renewal',
    occurredAt,
  });
  const failed = { ...renewal, data: { ...renewal.data, items: HOSTILE } };
  const unmatched = paddleTransactionCompleted({
    ...createPaddlePurchase('pri_unknown').once,
    occurredAt,
  });
  for (const event of [
    paddleCustomer('created', { ...person, occurredAt }),
    paid,
    failed,
    unmatched,
  ]) {
    await deliverPaddle(service, event);
  }
  return {
    salesEventId: paid.event_id,
    salesFailedEventId: failed.event_id,
    salesTransactionId: transactionId,
  };
}

async function seedDeliveries({ pool }: TestService, endpointId: string): Promise<void> {
  await pool.query(
    `update webhook_deliveries set state = 'failed', next_attempt_at = null, attempts = 2, last_attempt_at = now(),
       last_status = 500, last_duration_ms = 87, last_error = 'answered 500'
     where (message_id, endpoint_id) = (
       select message_id, endpoint_id from webhook_deliveries where endpoint_id = $1 limit 1)`,
    [endpointId],
  );
  await pool.query(
    `insert into webhook_attempts (message_id, endpoint_id, attempted_at, status, duration_ms, error, answer)
     select message_id, endpoint_id, now() - n * interval '5 minutes', 500, 87, 'answered 500', $2
     from webhook_deliveries, generate_series(0, 1) as n where endpoint_id = $1 and state = 'failed'`,
    [endpointId, HOSTILE.slice(0, 1_000)],
  );
}

async function seedMails(
  { clock, context, pool }: TestService,
  transactionId: string,
): Promise<void> {
  const code = {
    messageToken: `code-${'0'.repeat(32)}`,
    template: 'buyer_code',
    language: 'en',
  } as const;
  const failure = { outcome: 'permanent', reason: 'smtp_550', reply: null } as const;
  await recordOwnerEmail(pool, { ...code, email: 'ada@example.com' }, failure, true, clock.now());
  await pool.query(
    `insert into key_emails (transaction_id, provider, state, reason, created_at) values ($1, 'paddle', 'refused', 'smtp_550', now())
     on conflict (transaction_id, provider) do update set state = 'refused', reason = 'smtp_550'`,
    [transactionId],
  );
  await pool.query(
    `insert into outreach_messages (request_id, position, template, language, address_hash, message_id, state, created_at, ended_at)
     select $1, n, 'personal', 'de', decode($2, 'hex'), '<' || n || '@x>', 'sent', now(), now() from generate_series(0, 2) n`,
    [randomUUID(), hashAddress(context.vault, 'ada@example.com')],
  );
}
