import { EventBatch, EventBatchResponse, ref } from '@latchkey/contract';
import { notImplemented } from '#server/errors.ts';
import type { App } from '#server/http/app-instance.ts';

/** In bytes. */
const EVENTS_BODY_LIMIT_BYTES = 2 * 1024 * 1024;

/** Analytics events, in batches. */
export function registerAnalyticsRoutes(app: App): void {
  app.post(
    '/api/v1/events',
    {
      bodyLimit: EVENTS_BODY_LIMIT_BYTES,
      schema: {
        operationId: 'ingestEvents',
        tags: ['events'],
        summary: 'Store a batch of events of one install and one session',
        description: 'Sending the same batch again is safe: an event is stored once.',
        body: ref(EventBatch),
        response: { 200: ref(EventBatchResponse, 'How many events were new.') },
        problems: ['invalid_encoding', 'rate_limited'],
      },
    },
    async () => {
      throw notImplemented();
    },
  );
}
