import { EventBatch, EventBatchResponse, ref } from '@latchkey/contract';
import type { FastifyRequest } from 'fastify';

import type { Context } from '#server/context.ts';
import type { App } from '#server/http/app-instance.ts';
import { addGzipJsonParser } from '#server/http/json-parser.ts';
import { limitRate } from '#server/http/limit-rate.ts';
import { limitStorage } from '#server/http/limit-storage.ts';
import { RateLimiter } from '#server/lib/rate-limiter.ts';

import { describeDrops } from './rules/select-events.ts';
import { ingestEvents } from './ingest-events.ts';

/** As it is sent, and inflated. */
const EVENTS_BODY_LIMIT_BYTES = 2 * 1024 * 1024;

/** Analytics events, in batches. */
export function registerAnalyticsRoutes(app: App, ctx: Context): void {
  app.register(async (scope: App) => {
    addGzipJsonParser(scope, EVENTS_BODY_LIMIT_BYTES);
    scope.post(
      '/api/v1/events',
      {
        bodyLimit: EVENTS_BODY_LIMIT_BYTES,
        onRequest: [limitEvents(ctx), limitStoredEvents(ctx)],
        schema: {
          operationId: 'ingestEvents',
          tags: ['events'],
          summary: 'Store a batch of events of one install and one session',
          description:
            'Sending the same batch again is safe: an event is stored once. After any answer 200 the batch is done with, ' +
            'whatever the counts say; why events were dropped is told in the header `X-Events-Dropped`. The body may be ' +
            'compressed by gzip.',
          body: ref(EventBatch),
          response: { 200: ref(EventBatchResponse, 'How many events were new.') },
          problems: ['invalid_encoding', 'rate_limited', 'storage_low'],
        },
      },
      async (request, reply) => {
        const { response, drops } = await ingestEvents(ctx, request.body);
        chargeEvents(ctx, request, response.accepted);
        if (response.dropped > 0) reply.header('x-events-dropped', describeDrops(drops));
        return response;
      },
    );
  });
}

function limitStoredEvents({ clock, metrics, storage: limits }: Context) {
  const onRefusal = (code: string): void => metrics.countRefusal('events', code);
  return limitStorage({ limits, clock, needsDisk: true, onRefusal });
}

/** Row headers, ids and index entries of an event, beside its own text; measured on a store of a million. */
const EVENT_OVERHEAD_BYTES = 350;

function chargeEvents(
  { clock, storage }: Context,
  { body, clientNetwork, load }: FastifyRequest<{ Body: EventBatch }>,
  stored: number,
): void {
  const textBytes = ((load?.bodyBytes ?? 0) * stored) / body.events.length;
  const bytes = stored * EVENT_OVERHEAD_BYTES + textBytes;
  storage.quota.charge(clientNetwork, bytes, clock.now().getTime());
}

function limitEvents({ clock, config, metrics }: Context) {
  const { perSecond, burst } = config.events.rate;
  return limitRate({
    limiter: new RateLimiter({ name: 'events', quota: burst, windowSeconds: burst / perSecond }),
    clock,
    onRefusal: () => metrics.countRefusal('events', 'rate_limited'),
  });
}
