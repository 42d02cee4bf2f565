import type { Context } from '#server/context.ts';
import { type AppDependencies, buildApp } from '#server/app.ts';
import type { App } from '#server/http/app-instance.ts';

/** A context without anything in it: what these tests prove is decided before a use case is called. */
const noContext: Context = new Proxy<Context>(Object.create(null), {
  get: (_target, name) => {
    throw new Error(`this test has no ${String(name)}`);
  },
});

/** The whole application on no database: everything answers but what needs one. */
export function createTestApp(dependencies: Partial<AppDependencies> = {}): App {
  return buildApp(noContext, {
    publicUrl: 'https://license.example.com',
    trustedProxies: [],
    log: { error: () => {} },
    state: () => 'ready',
    health: {
      clock: { now: () => new Date() },
      startedAt: new Date(),
      version: '1.0.0',
      log: { warn: () => {} },
      pingDatabase: async () => {},
      migrationsPending: () => false,
      countGivenUpJobs: async () => 0,
      isDraining: () => false,
    },
    ...dependencies,
  });
}
