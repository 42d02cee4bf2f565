import { WebhookHeaders, WebhookResponse, ref, webhookPayload } from '@latchkey/contract';
import { notImplemented } from '#server/errors.ts';
import type { App } from '#server/http/app-instance.ts';

/** In bytes. */
const WEBHOOK_BODY_LIMIT_BYTES = 1024 * 1024;

/** What payment providers call. */
export function registerBillingRoutes(app: App): void {
  app.post(
    '/api/v1/webhooks/billing',
    {
      bodyLimit: WEBHOOK_BODY_LIMIT_BYTES,
      schema: {
        operationId: 'receiveBillingWebhook',
        tags: ['billing'],
        summary: 'Receive an event of the payment provider',
        description: 'An event is kept first and applied once, however often it is sent.',
        headers: WebhookHeaders,
        body: webhookPayload,
        response: { 200: ref(WebhookResponse, 'The event is kept.') },
        problems: ['invalid_signature', 'billing_not_configured'],
      },
    },
    async () => {
      throw notImplemented();
    },
  );
}
