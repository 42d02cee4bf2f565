import type { Pool } from 'pg';
import type { Logger } from 'pino';

import type { Clock } from './clock.ts';
import type { Catalog } from './config/catalog.ts';
import type { Config } from './config/config.ts';
import type { Queryable } from './db/statement.ts';
import type { EventQueue } from './features/analytics/event-queue.ts';
import type { EventCounts } from './features/analytics/event-counts.ts';
import type { NameFilter } from './features/analytics/rules/select-events.ts';
import type { ConfiguredApiKey } from './features/api-keys/authenticate.ts';
import type { PaddleApi } from './features/billing/providers/paddle/paddle-api.ts';
import type { WebhookBatch } from './features/billing/webhook-batch.ts';
import type { WebhookSecrets } from './features/billing/providers/adapters.ts';
import type { SigningKeyRing } from './features/entitlements/key-ring.ts';
import type { LicenseBatches } from './features/licenses/batches.ts';
import type { CheckLimiter } from './features/licenses/check-limiter.ts';
import type { GuessLimiter } from './features/licenses/guess-limiter.ts';
import type { OutreachLimiter } from './features/outreach/outreach-limiter.ts';
import type { WantedEvents } from './features/outgoing-webhooks/wanted-events.ts';
import type { TrialBatch } from './features/trials/trial.ts';
import type { HeartbeatQueue } from './features/usage/record-heartbeat.ts';
import type { StorageLimits } from './http/limit-storage.ts';
import type { ConcurrencyLimiter } from './lib/concurrency-limiter.ts';
import type { Vault } from './lib/vault.ts';
import type { MailTransport } from './mail/mail-transport.ts';
import type { Metrics } from './metrics.ts';

/** Everything through which a use case reaches the outside world; made once, in `make-context.ts`. */
export interface Context {
  readonly config: Config;
  /** Read anew on SIGHUP, so it is asked for at each use. */
  readonly catalog: () => Catalog;
  readonly clock: Clock;
  /** The present moment by the clock of the database's machine. */
  readonly readDatabaseTime: (db: Queryable) => Promise<Date>;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly vault: Vault;
  readonly pool: Pool;
  readonly signingKeys: SigningKeyRing;
  readonly configuredApiKeys: readonly ConfiguredApiKey[];
  /** By provider; empty: not configured. */
  readonly webhookSecrets: WebhookSecrets;
  /** Null while no mail is configured. */
  readonly mail: MailTransport | null;
  /** The same relay over other connections, so that letters to many hold up no key. Null while no mail is configured. */
  readonly outreachMail: MailTransport | null;
  readonly outreach: OutreachLimiter;
  /** Null while there is no key for it. */
  readonly paddleApi: PaddleApi | null;
  readonly batches: LicenseBatches & {
    readonly trials: TrialBatch;
    readonly webhooks: WebhookBatch;
    readonly heartbeats: HeartbeatQueue;
    readonly events: EventQueue;
  };
  /** Limits calls that need a connection and do not go through a batch. */
  readonly databaseLimiter: ConcurrencyLimiter;
  /** Limits changes of licenses, by the id of the license. */
  readonly licenseLimiter: ConcurrencyLimiter;
  readonly guesses: GuessLimiter;
  /** Limits look-ups of keys that a client's network has not used before, by network. */
  readonly lookUpLimiter: ConcurrencyLimiter;
  readonly checkLimiter: CheckLimiter;
  /** Limits what is stored for clients without credentials. */
  readonly storage: StorageLimits;
  readonly eventCounts: EventCounts;
  /** Which names of analytics events are taken. */
  readonly wantedNames: NameFilter;
  /** Which events the endpoints of outgoing webhooks want. */
  readonly wantedEvents: WantedEvents;
}
