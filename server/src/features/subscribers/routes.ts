import { SubscriberCreate, SubscriberResponse, ref } from '@latchkey/contract';
import { notImplemented } from '#server/errors.ts';
import type { App } from '#server/http/app-instance.ts';

/** Those who asked for news. */
export function registerSubscriberRoutes(app: App): void {
  app.post(
    '/api/v1/subscribers',
    {
      schema: {
        operationId: 'subscribe',
        tags: ['subscribers'],
        summary: 'Subscribe an e-mail address to news',
        description: 'The answer is the same whether or not the address was known before.',
        body: ref(SubscriberCreate),
        response: { 201: ref(SubscriberResponse, 'The address is subscribed.') },
        problems: ['rate_limited'],
      },
    },
    async () => {
      throw notImplemented();
    },
  );
}
