/** Feature: turn the events of payment providers into facts, and the facts of a purchase into licenses. */
import type { Logger } from 'pino';

import type { Config } from '#server/config/config.ts';
import type { Secrets } from '#server/config/secrets.ts';
import type { BatchQueue } from '#server/db/batching/batcher.ts';
import type { Queryable } from '#server/db/statement.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import type { MailTransport, SendResult } from '#server/mail/mail-transport.ts';

import type { LicenseChangeDependencies } from '../licenses/dependencies.ts';
import type { GumroadApi } from './providers/gumroad/gumroad-api.ts';
import type { StripeApi } from './providers/stripe/stripe-api.ts';
import type { PaddleApi } from './providers/paddle/paddle-api.ts';
import type { Receipt, ReceivedEvent } from './received-event.ts';

/** Collects verified events into batches. */
export type PaymentEventBatch = BatchQueue<ReceivedEvent, Receipt>;

/** The dependencies of applying events to licenses. */
export interface ApplyDependencies extends LicenseChangeDependencies {
  readonly config: Pick<Config, 'billing'>;
  readonly log: Logger;
  /** Null: no API key of Stripe is configured. */
  readonly stripeApi: StripeApi | null;
}

/** The dependencies of receiving and retrying events, and of sending keys. */
export interface BillingDependencies extends ApplyDependencies {
  readonly config: Pick<Config, 'billing' | 'http'>;
  readonly batches: { readonly paymentEvents: PaymentEventBatch };
  readonly databaseLimiter: ConcurrencyLimiter;
  /** Null: no mail relay is configured. */
  readonly mail: MailTransport | null;
  readonly metrics: {
    countMail(kind: 'key' | 'machine_freed' | 'gift_sent', outcome: SendResult['outcome']): void;
    countRefusal(endpoint: string, reason: string): void;
    countPaymentEvent(provider: string, status: string): void;
  };
  /** Null: no API key of Paddle is configured. */
  readonly paddleApi: PaddleApi | null;
  /** Null: no access token of Gumroad is configured. */
  readonly gumroadApi: GumroadApi | null;
  readonly readDatabaseTime: (db: Queryable) => Promise<Date>;
  readonly webhookSecrets: Secrets['webhooks'];
}
