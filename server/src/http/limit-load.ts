import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type PublicError, overloaded } from '#server/errors.ts';
import type { LoadControl, RequestLoad } from './request-load.ts';
import { SERVED_ALWAYS } from './service-state.ts';

const RETRY_AFTER_SECONDS = 1;

declare module 'fastify' {
  interface FastifyRequest {
    /** Null before admission. A property, because a `WeakMap` cost 2.5 % of a request. */
    load: RequestLoad | null;
  }
}

/**
 * Refuses requests with 503 while those in progress could fill the memory: queues are bounded by calls, not by the size
 * of their bodies. A request reserves memory for its body as it arrives (`read-body.ts`), so an announced length costs
 * nothing, and releases it when its response is closed and its handler has ended, since a queued call outlives its
 * client's connection. Requests for probes and metrics are admitted at all times, unless they have a body. The instance
 * is closed only when all handlers have ended: what they use, the database, is closed next.
 *
 * Called on the root instance, after `identifyClients` and before the routes.
 */
export function limitLoad(app: FastifyInstance, control: LoadControl): void {
  addAdmission(app, control);
  trackHandlers(app);
}

function addAdmission(app: FastifyInstance, control: LoadControl): void {
  app.decorateRequest('load', null);
  app.addHook('onRequest', (request, reply, done) => {
    const load = control.admit(request.clientNetwork, () => isProbe(request));
    if (load === null) {
      done(noMemory());
      return;
    }
    request.load = load;
    reply.raw.once('close', () => {
      if (!load.isWorking) load.release();
    });
    done();
  });
}

function isProbe({ headers, url }: FastifyRequest): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  return length === '0' && encoding === undefined && SERVED_ALWAYS.test(url);
}

function trackHandlers(app: FastifyInstance): void {
  let working = 0;
  let onIdle: (() => void) | null = null;
  app.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = async function work(request, reply) {
      const { load } = request;
      if (load === null) return handler.call(this, request, reply);
      load.isWorking = true;
      working++;
      try {
        return await handler.call(this, request, reply);
      } finally {
        load.isWorking = false;
        if (reply.raw.closed) load.release();
        if (--working === 0) onIdle?.();
      }
    };
  });
  app.addHook('onClose', async () => {
    if (working > 0) await new Promise<void>((resolve) => (onIdle = resolve));
  });
}

/**
 * Reserves memory for a body as it is inflated, since a few kilobytes may become megabytes.
 * @throws overloaded (503) without free memory
 */
export function reserveInflatedBytes({ load }: FastifyRequest, bodyBytes: number): void {
  if (load?.resize(bodyBytes) === false) throw noMemory();
}

/** The refusal of a request for which there is no memory. */
export function noMemory(): PublicError {
  return overloaded(RETRY_AFTER_SECONDS);
}
