import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';

import type { App } from './app-instance.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * How an operation of the operator interface uses the limiter of database calls. Default: its handler runs in one slot.
     * `own`: it waits for something else, or has a limit of its own. `none`: it uses no database.
     */
    readonly databaseSlots?: 'own' | 'none';
  }
}

/** The `config` of a route whose use case takes its slots itself, for the parts that use the database. */
export const OWN_SLOTS = { databaseSlots: 'own' } as const;

/** The `config` of a route that uses no database, or must also answer when there is no slot. */
export const NO_SLOT = { databaseSlots: 'none' } as const;

/**
 * Runs the handler of each route of a scope in one slot, unless the route declares `databaseSlots`. Such a handler must not
 * take another slot, because two of them could wait for each other. It returns a stream instead of sending it: a slot is
 * held until the handler returns, and a client may read slowly.
 */
export function runInDatabaseSlots(scope: App, limiter: Pick<ConcurrencyLimiter, 'run'>): void {
  scope.addHook('onRoute', (route) => {
    if (route.config?.databaseSlots !== undefined) return;
    const { handler } = route;
    route.handler = (request, reply) =>
      limiter.run(async () => handler.call(scope, request, reply));
  });
}
