/**
 * The service in a separate process, with additional routes for comparison:
 * - `/bench/empty/validate` and `/bench/empty/trial`: the same schemas, an answer of the same size, no work
 * - `/bench/single/validate`: the same use case, with single statements instead of batches
 * - `/bench/empty/heartbeat` and `/bench/empty/events`: the same; `/bench/single/events`: a statement and a commit for
 *   each event
 * - `/bench/signed/validate`: the same use case, but every token must be signed again
 */
import {
  EventBatch,
  EventBatchResponse,
  HeartbeatRequest,
  HeartbeatResponse,
  ref,
} from '@latchkey/contract';

import { buildApp } from '#server/app.ts';
import { systemClock } from '#server/clock.ts';
import { loadCatalog } from '#server/config/catalog.ts';
import { loadConfiguration } from '#server/config/load.ts';
import { migrate } from '#server/db/migrate.ts';
import { openDatabase } from '#server/db/open-database.ts';
import { storeRequests } from '#server/features/analytics/event-queue.ts';
import { freshProofRange } from '#server/features/entitlements/issue-entitlement.ts';
import { createLicenseBatches } from '#server/features/licenses/batches.ts';
import { validateOperation } from '#server/features/licenses/routes.ts';
import {
  countValidations,
  type ValidationFacts,
  type ValidationRequest,
} from '#server/features/licenses/queries/validations.ts';
import { CONCURRENT_MESSAGES } from '#server/features/outreach/deliver-messages.ts';
import { validateLicense } from '#server/features/licenses/validate.ts';
import { startTrialOperation } from '#server/features/trials/routes.ts';
import type { App } from '#server/http/app-instance.ts';
import { observeRequests } from '#server/http/observe-requests.ts';
import { createLog } from '#server/log.ts';
import { createMailTransport } from '#server/mail/smtp-transport.ts';
import { createContext, loadSigningKeys, type Context } from '#server/context.ts';
import { createMetrics } from '#server/metrics.ts';

import { TRIAL_RESPONSE, VALIDATE_RESPONSE } from './lib/sample-responses.ts';

const heartbeatSchema = {
  body: ref(HeartbeatRequest),
  response: { 200: ref(HeartbeatResponse, 'The same.') },
};

const eventsSchema = {
  body: ref(EventBatch),
  response: { 200: ref(EventBatchResponse, 'The same.') },
};

function addUsageComparisons(app: App, context: Context): void {
  app.post('/bench/empty/heartbeat', { schema: heartbeatSchema }, async () => ({
    success: true,
    message: 'updated',
  }));
  app.post('/bench/empty/events', { schema: eventsSchema }, async ({ body }) => ({
    accepted: body.events.length,
    dropped: 0,
  }));
  app.post('/bench/single/events', { schema: eventsSchema }, async ({ body }) => {
    for (const event of body.events) {
      await storeRequests(context, [
        {
          installId: body.install_id,
          sessionId: body.session_id,
          appVersion: body.app_version,
          osVersion: body.os_version ?? null,
          events: [
            {
              eventId: event.event_id,
              name: event.name,
              occurredAt: event.occurred_at,
              clientOccurredAt: null,
              props: event.props ?? null,
            },
          ],
        },
      ]);
    }
    return { accepted: body.events.length, dropped: 0 };
  });
}

function addComparisons(app: App, context: Context): void {
  const single = sendOneByOne(context);
  app.post('/bench/empty/validate', { schema: validateOperation }, async () => VALIDATE_RESPONSE);
  app.post('/bench/empty/trial', { schema: startTrialOperation }, async () => TRIAL_RESPONSE);
  app.post('/bench/single/validate', { schema: validateOperation }, (request) =>
    validateLicense(single, request.body, request.ip),
  );
  const signing = signEachTime(context);
  app.post('/bench/signed/validate', { schema: validateOperation }, (request) =>
    validateLicense(signing, request.body, request.ip),
  );
}

/** The same context with a statement and a commit for each validation. */
function sendOneByOne(context: Context): Context {
  const submit = async (question: ValidationRequest): Promise<ValidationFacts | null> => {
    const now = context.clock.now();
    const decision = { now, freshProofs: freshProofRange(now) };
    const [finding] = await countValidations(context.pool, [question], decision);
    return finding ?? null;
  };
  return { ...context, batches: { ...context.batches, validations: { submit } } };
}

/**
 * The same context with separate batches and a clock that advances by hours at each batch, so that every token is
 * expired.
 */
function signEachTime(context: Context): Context {
  const hoursMs = 2 * 3_600_000;
  let readings = 0;
  const clock = { now: () => new Date(Date.now() + ++readings * hoursMs) };
  const batches = createLicenseBatches(
    { clock, pool: context.pool },
    createMetrics({ version: 'bench' }),
  );
  return { ...context, batches: { ...context.batches, ...batches } };
}

const { config, secrets } = loadConfiguration();
const log = createLog({ level: 'warn' });
const database = await openDatabase(config, secrets, log);
await migrate(database.pool);
const catalog = loadCatalog(config.catalogPath);
const metrics = createMetrics({ version: 'bench' });
const context = createContext({
  config,
  secrets,
  catalog: () => catalog,
  clock: systemClock,
  log,
  metrics,
  mail: createMailTransport(config, secrets),
  outreachMail: createMailTransport(config, secrets, CONCURRENT_MESSAGES),
  pool: database.pool,
});
await loadSigningKeys(context);
const app = buildApp(context, {
  publicUrl: config.http.publicUrl,
  trustedProxies: config.http.trustedProxies,
  log,
  state: () => 'ready',
  health: {
    clock: systemClock,
    startedAt: new Date(),
    version: 'bench',
    log,
    pingDatabase: async () => void (await database.pool.query('select 1')),
    migrationsPending: () => false,
    readBacklog: async () => ({
      jobs: { open: 0, failed: 0 },
      events: { deferred: 0, failed: 0 },
      isReconciliationFailing: false,
      undelivered: { keyEmails: 0, deliveries: 0, endpoints: 0 },
      freePoolKeys: {},
      revenue: { reports: 0, delaySeconds: 0, backfill: 0 },
    }),
    isDiskLow: () => false,
    isDraining: () => false,
  },
  prepare: (instance) => {
    observeRequests(instance, { log, metrics });
    addComparisons(instance, context);
    addUsageComparisons(instance, context);
  },
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.send?.({ port: Number(new URL(url).port) });
const stop = async (): Promise<void> => {
  await app.close();
  await database.close();
  process.exit(0);
};
process.once('SIGTERM', () => void stop());
// Ends with the benchmark, also an interrupted one.
process.once('disconnect', () => void stop());
