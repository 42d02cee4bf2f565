import type { FastifyInstance, FastifyRequest } from 'fastify';
import { overloaded } from '#server/errors.ts';
import { DEFAULT_BODY_LIMIT_BYTES } from './server-options.ts';
import { SERVED_ALWAYS } from './service-state.ts';

/** What the requests under way may weigh together; bodies beyond the usual limit share less, and so cannot take it all. */
const MAX_LOAD = { usualBytes: 96 * 1024 * 1024, largeBytes: 32 * 1024 * 1024 };

/** What a request takes beside its body: headers, objects, its place in a queue. */
const REQUEST_BYTES = 4 * 1024;

const RETRY_AFTER_SECONDS = 1;

/** A part of the memory, and how much of it is taken. */
interface Budget {
  readonly maxBytes: number;
  usedBytes: number;
}

interface Budgets {
  readonly usual: Budget;
  readonly large: Budget;
}

interface Share {
  readonly budgets: Budgets;
  budget: Budget;
  bytes: number;
  isWorking: boolean;
  isReleased: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null: the request weighs nothing. Kept here, for a `WeakMap` took a fortieth of the time of a request. */
    loadShare: Share | null;
  }
}

/**
 * Refuses requests with 503, before their bodies are read, while those under way could fill the memory: the queues count
 * calls, whatever their bodies hold. A request weighs what it says that its body is, or else the most that it may be. It
 * weighs until its connection is done with it and its work has ended, for what waits in a queue outlives a client who
 * goes away. Probes and metrics are served at all times. For the same reason the instance is closed only when all work has
 * ended: what it works on, the database, is closed next.
 *
 * Called on the root instance, before the routes.
 */
export function limitLoad(app: FastifyInstance, { usualBytes, largeBytes } = MAX_LOAD): void {
  const budgets: Budgets = {
    usual: { maxBytes: usualBytes, usedBytes: 0 },
    large: { maxBytes: largeBytes, usedBytes: 0 },
  };
  let working = 0;
  let onIdle: (() => void) | null = null;
  app.decorateRequest('loadShare', null);

  app.addHook('onRequest', (request, reply, done) => {
    const weight = weigh(budgets, weighBody(request));
    if (!hasRoom(weight) && !SERVED_ALWAYS.test(request.url)) {
      done(overloaded(RETRY_AFTER_SECONDS));
      return;
    }
    const share: Share = { budgets, ...weight, isWorking: false, isReleased: false };
    share.budget.usedBytes += share.bytes;
    request.loadShare = share;
    reply.raw.once('close', () => {
      if (!share.isWorking) release(share);
    });
    done();
  });

  app.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = async function work(request, reply) {
      const share = request.loadShare;
      if (share === null) return handler.call(this, request, reply);
      share.isWorking = true;
      working++;
      try {
        return await handler.call(this, request, reply);
      } finally {
        share.isWorking = false;
        if (reply.raw.closed) release(share);
        if (--working === 0) onIdle?.();
      }
    };
  });

  app.addHook('onClose', async () => {
    if (working > 0) await new Promise<void>((resolve) => (onIdle = resolve));
  });
}

/**
 * Weighs a request once more, by its body as it is inflated: a few kilobytes may have become megabytes.
 * @throws overloaded (503) when the requests under way leave no room for it
 */
export function weighInflated({ loadShare: share }: FastifyRequest, bodyBytes: number): void {
  if (share === null || share.isReleased) return;
  share.budget.usedBytes -= share.bytes;
  const weight = weigh(share.budgets, bodyBytes);
  const fits = hasRoom(weight);
  if (fits) Object.assign(share, weight);
  share.budget.usedBytes += share.bytes;
  if (!fits) throw overloaded(RETRY_AFTER_SECONDS);
}

type Weight = Pick<Share, 'budget' | 'bytes'>;

function weigh({ usual, large }: Budgets, bodyBytes: number): Weight {
  const budget = bodyBytes > DEFAULT_BODY_LIMIT_BYTES ? large : usual;
  return { budget, bytes: REQUEST_BYTES + bodyBytes };
}

function hasRoom({ budget, bytes }: Weight): boolean {
  return budget.usedBytes + bytes <= budget.maxBytes;
}

/** A client may go away before its work begins, and the work end after that: it weighs nothing from the first of them. */
function release(share: Share): void {
  if (share.isReleased) return;
  share.isReleased = true;
  share.budget.usedBytes -= share.bytes;
}

function weighBody(request: FastifyRequest): number {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (length === undefined && encoding === undefined) return 0;
  const bytes = length === undefined ? Infinity : Number(length);
  if (bytes <= DEFAULT_BODY_LIMIT_BYTES) return bytes;
  return Math.min(bytes, request.routeOptions.bodyLimit ?? DEFAULT_BODY_LIMIT_BYTES);
}
