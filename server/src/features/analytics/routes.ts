/** Feature: events of installs, roll-ups of events, usage and trials, reports, and the removal of old data. */
import { EventBatch, EventBatchResponse, ref } from '@latchkey/contract';
import type { FastifyRequest } from 'fastify';

import type { Config } from '#server/config/config.ts';
import type { App } from '#server/http/app-instance.ts';
import { addGzipJsonParser } from '#server/http/json-parser.ts';
import { limitRate, limitStorage, type StorageLimits } from '#server/http/limit-rate.ts';
import type { Counters } from '#server/lib/counters.ts';
import { RateLimiter } from '#server/lib/rate-limiter.ts';

import { ingestEvents, type IngestionDependencies } from './ingest-events.ts';
import { formatDrops } from './rules/select-events.ts';

/** Of the body as sent, and of the decompressed one. */
const EVENTS_BODY_LIMIT_BYTES = 2 * 1024 * 1024;

interface AnalyticsRouteDependencies extends IngestionDependencies {
  readonly config: Pick<Config, 'events'>;
  readonly counters: Counters;
  readonly metrics: { countRefusal(operation: string, reason: string): void };
  readonly storage: StorageLimits;
}

export function registerAnalyticsRoutes(app: App, deps: AnalyticsRouteDependencies): void {
  app.register(async (scope: App) => {
    addGzipJsonParser(scope, EVENTS_BODY_LIMIT_BYTES);
    scope.post(
      '/api/v1/events',
      {
        bodyLimit: EVENTS_BODY_LIMIT_BYTES,
        onRequest: [limitEventRate(deps), limitStoredEvents(deps)],
        schema: {
          operationId: 'ingestEvents',
          tags: ['events'],
          summary: 'Store a batch of events of one install and one session',
          description:
            'Sending the same batch again is safe: an event is stored once. Delete the batch after every response 200, ' +
            'whatever its counts; the header `X-Events-Dropped` has the reasons of dropped events. The body may be ' +
            'compressed with gzip, at most a hundredfold where it is larger than 256 KiB.',
          body: ref(EventBatch),
          response: { 200: ref(EventBatchResponse, 'How many events were new.') },
          problems: ['invalid_encoding', 'rate_limited', 'storage_low'],
        },
      },
      async (request, reply) => {
        const { response, drops } = await ingestEvents(deps, request.body);
        chargeEvents(deps, request, response.accepted);
        if (response.dropped > 0) reply.header('x-events-dropped', formatDrops(drops));
        return response;
      },
    );
  });
}

function limitEventRate({ clock, config, counters, metrics }: AnalyticsRouteDependencies) {
  const { perSecond, burst } = config.events.rate;
  return limitRate({
    limiter: new RateLimiter(counters, {
      name: 'events',
      quota: burst,
      windowSeconds: burst / perSecond,
    }),
    clock,
    onRefusal: () => metrics.countRefusal('events', 'rate_limited'),
  });
}

function limitStoredEvents({ clock, metrics, storage: limits }: AnalyticsRouteDependencies) {
  const onRefusal = (code: string): void => metrics.countRefusal('events', code);
  return limitStorage({ limits, clock, needsDisk: true, onRefusal });
}

/** Row headers, ids and index entries of an event; measured with a million events. */
const EVENT_OVERHEAD_BYTES = 350;

function chargeEvents(
  { clock, storage }: AnalyticsRouteDependencies,
  { body, clientNetwork, load }: FastifyRequest<{ Body: EventBatch }>,
  stored: number,
): void {
  const textBytes = ((load?.bodyBytes ?? 0) * stored) / body.events.length;
  const bytes = stored * EVENT_OVERHEAD_BYTES + textBytes;
  storage.quota.charge(clientNetwork, bytes, clock.now().getTime());
}
