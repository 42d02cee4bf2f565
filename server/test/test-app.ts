import { systemClock } from '#server/clock.ts';
import { toConfig } from '#server/config/config.ts';
import { readEnvironment } from '#server/config/env.ts';
import type { Context } from '#server/context.ts';
import { type AppDependencies, buildApp } from '#server/app.ts';
import type { App } from '#server/http/app-instance.ts';
import { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import { LocalCounters } from '#server/lib/counters.ts';
import { StorageQuota } from '#server/lib/storage-quota.ts';
import { createMetrics } from '#server/metrics.ts';

/** Creates the dependencies for registering routes; use cases, which need more, do not run in these tests. */
function createRouteContext(): Context {
  return new Proxy<Context>(
    Object.assign(Object.create(null), {
      config: toConfig(readEnvironment({}, () => '').environment, '/'),
      clock: systemClock,
      counters: new LocalCounters(),
      databaseLimiter: new ConcurrencyLimiter({ limit: 1, maxQueued: 0 }),
      metrics: createMetrics({ version: 'test' }),
      storage: { quota: new StorageQuota(1_048_576), isDiskLow: () => false },
    }),
    {
      get: (target, name) => {
        if (Object.hasOwn(target, name)) return Reflect.get(target, name);
        throw new Error(`this test has no ${String(name)}`);
      },
    },
  );
}

/** Builds the application, by default without a database, for requests that need none. */
export function createTestApp(
  deps: Partial<AppDependencies> = {},
  context: Context = createRouteContext(),
): App {
  return buildApp(context, {
    publicUrl: 'https://license.example.com',
    trustedProxies: [],
    log: { error: () => {}, warn: () => {}, info: () => {} },
    state: () => 'ready',
    health: {
      clock: { now: () => new Date() },
      startedAt: new Date(),
      version: '1.0.0',
      log: { warn: () => {} },
      pingDatabase: async () => {},
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
    ...deps,
  });
}
