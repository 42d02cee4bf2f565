import type { Pool } from 'pg';

import type { Clock } from './clock.ts';
import type { Catalog } from './config/catalog.ts';
import type { Config } from './config/config.ts';
import type { Secrets } from './config/secrets.ts';
import type { Context } from './context.ts';
import { isLockTimeout } from './db/database-errors.ts';
import { readDatabaseTime } from './db/database-time.ts';
import { Gate } from './db/gate.ts';
import { KeyedQueue } from './db/keyed-queue.ts';
import { isWholeDatabaseSilent } from './db/silence.ts';
import { createEventBatch } from './features/analytics/event-batch.ts';
import { EventCounts } from './features/analytics/event-counts.ts';
import { createNameFilter } from './features/analytics/rules/name-filter.ts';
import { readConfiguredKeys } from './features/api-keys/configured-keys.ts';
import type { PaddleApi } from './features/billing/providers/paddle/paddle-api.ts';
import { createWebhookBatch } from './features/billing/webhook-batch.ts';
import { readWebhookSecrets } from './features/billing/webhook-secrets.ts';
import { SigningKeyRing } from './features/entitlements/key-ring.ts';
import { ensureSigningKey } from './features/entitlements/rotate-signing-key.ts';
import { createLicenseBatches } from './features/licenses/batches.ts';
import { CheckLimiter } from './features/licenses/check-limiter.ts';
import { GuessLimiter } from './features/licenses/guess-limiter.ts';
import { createGuessQueue } from './features/licenses/guess-queue.ts';
import { recordEvents } from './features/outgoing-webhooks/record-events.ts';
import { OutreachDesk, type OutreachLimits } from './features/outreach/outreach-desk.ts';
import { WantedEvents } from './features/outgoing-webhooks/wanted-events.ts';
import { createTrialBatch } from './features/trials/grant-trials.ts';
import { prepareTrial, trialTerms } from './features/trials/prepare-trial.ts';
import { createHeartbeatBatch } from './features/usage/heartbeat-batch.ts';
import { createVault } from './lib/vault.ts';
import type { Logger } from './log.ts';
import { StorageQuota } from './lib/storage-quota.ts';
import type { MailTransport } from './mail/mail-transport.ts';
import type { Metrics } from './metrics.ts';

/** What a context is made of. */
export interface ContextParts {
  readonly config: Config;
  readonly secrets: Pick<
    Secrets,
    'master' | 'previousMasters' | 'outreachApiKey' | 'metricsToken' | 'webhooks'
  >;
  readonly catalog: () => Catalog;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly pool: Pool;
  /** Left out: the time is asked of the database. */
  readonly readDatabaseTime?: Context['readDatabaseTime'];
  /** Left out where nothing is sent. */
  readonly mail?: MailTransport | null;
  readonly outreachMail?: MailTransport | null;
  /** Left out: the limits of a service. */
  readonly outreachLimits?: Partial<OutreachLimits>;
  /** Left out where the disk is another machine's. */
  readonly isDiskLow?: () => boolean;
  /** Left out where nothing is asked. */
  readonly paddleApi?: PaddleApi | null;
}

/**
 * As many batches may be under way at once: two each of validations and events, and one each of their records, sold terms,
 * lookups, checks, trials, webhooks and heartbeats. All other work goes through the gate, which leaves them these connections; in a pool too small
 * for that, the gate lets in one piece of work at a time.
 */
const CONNECTIONS_FOR_BATCHES = 11;

/** Calls that may wait at the gate. At a millisecond or two each, the last of them waits for less than a second. */
const MAX_WAITING_AT_GATE = 1_000;

/** Activations that may wait in line. */
const MAX_WAITING_FOR_LICENSES = 2_000;

/** How many of these may be for one license, so that it cannot keep the others out. */
const MAX_WAITING_FOR_ONE_LICENSE = 100;

/** Makes the context. Nothing is connected or read yet: see {@link loadSigningKeys}. */
export function makeContext(parts: ContextParts): Context {
  const { config, catalog, clock, log, metrics, pool } = parts;
  const vault = createVault(parts.secrets.master, parts.secrets.previousMasters);
  const signingKeys = new SigningKeyRing({ pool, clock, vault, log });
  const maxConcurrent = Math.max(1, config.database.poolSize - CONNECTIONS_FOR_BATCHES);
  const isSilent = (error: unknown): Promise<boolean> => isWholeDatabaseSilent(pool, error);
  const gate = new Gate({ maxConcurrent, maxWaiting: MAX_WAITING_AT_GATE, isSilent });
  const licenseQueue = new KeyedQueue({
    maxConcurrent,
    maxWaiting: MAX_WAITING_FOR_LICENSES,
    maxPerKey: MAX_WAITING_FOR_ONE_LICENSE,
    concernsAll: isSilent,
    concernsKey: isLockTimeout,
  });
  const guessQueue = createGuessQueue(isSilent);
  metrics.setQueueDepth('gate', () => gate.depth);
  metrics.setQueueDepth('activations', () => licenseQueue.depth);
  metrics.setQueueDepth('guesses', () => guessQueue.depth);
  const outreach = new OutreachDesk(parts.outreachLimits);
  metrics.setQueueDepth('outreach', () => outreach.depth);
  const wantedEvents = new WantedEvents(clock);
  const trials = createTrialBatch({
    pool,
    observer: metrics,
    readTerms: () => trialTerms(catalog(), clock.now()),
    prepare: (request, terms) =>
      prepareTrial({ catalog, config, signingKeys, vault }, request, terms),
    recordEvents: (db, events, now) => recordEvents({ catalog, wantedEvents }, db, events, now),
  });
  return {
    config,
    catalog,
    clock,
    readDatabaseTime: parts.readDatabaseTime ?? readDatabaseTime,
    log,
    metrics,
    vault,
    pool,
    signingKeys,
    configuredApiKeys: readConfiguredKeys(parts.secrets),
    webhookSecrets: readWebhookSecrets(parts.secrets),
    mail: parts.mail ?? null,
    outreachMail: parts.outreachMail ?? null,
    outreach,
    paddleApi: parts.paddleApi ?? null,
    batches: {
      ...createLicenseBatches({ clock, pool }, metrics),
      trials,
      webhooks: createWebhookBatch(
        { catalog, clock, config, log, pool, vault, wantedEvents },
        metrics,
      ),
      heartbeats: createHeartbeatBatch({ clock, pool }, metrics),
      events: createEventBatch({ clock, pool }, metrics),
    },
    gate,
    licenseQueue,
    guesses: new GuessLimiter(clock),
    guessQueue,
    checkLimiter: new CheckLimiter(clock),
    storage: {
      quota: new StorageQuota(config.storage.quotaMib * 1_048_576),
      isDiskLow: parts.isDiskLow ?? (() => false),
    },
    eventCounts: new EventCounts(clock, (outcome, count) => metrics.countEvents(outcome, count)),
    wantedNames: createNameFilter(config.events.names),
    wantedEvents,
  };
}

/** Reads the signing keys, and makes the first one in a new database. */
export async function loadSigningKeys(ctx: Context): Promise<void> {
  await ensureSigningKey(ctx);
  await ctx.signingKeys.refresh();
}
