import {
  GumroadPath,
  gumroadPing,
  ProviderPath,
  WebhookHeaders,
  WebhookResponse,
  ref,
  webhookPayload,
} from '@latchkey/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';

import type { App } from '#server/http/app-instance.ts';
import { addRawParser, readJsonBody } from '#server/http/json-parser.ts';
import { isForm, readForm } from '#server/http/read-form.ts';

import type { BillingDependencies } from './dependencies.ts';
import { receiveWebhook } from './receive-webhook.ts';

const WEBHOOK_BODY_LIMIT_BYTES = 1024 * 1024;

/** The signature is verified before the body is read, so the schemas serve only the interface document. */
const unvalidated = { bodyLimit: WEBHOOK_BODY_LIMIT_BYTES, validatorCompiler: () => () => true };

const description =
  'An event is stored first and applied once, however often it is delivered. The signature is verified before the body is read.';

const common = {
  tags: ['billing'],
  body: webhookPayload,
  response: { 200: ref(WebhookResponse, 'The event is stored.') },
};

const partlyReceived = {
  description:
    'Some events of the delivery are stored: their ids, one in each line. The provider sends the others again.',
  content: { 'text/plain': { schema: { type: 'string' } } },
};

/** Registers the webhooks that payment providers call. */
export function registerBillingRoutes(app: App, deps: BillingDependencies): void {
  app.register(async (scope: App) => {
    addRawParser(scope);

    scope.post(
      '/api/v1/webhooks/billing',
      {
        ...unvalidated,
        schema: {
          ...common,
          operationId: 'receiveBillingWebhook',
          summary: 'Receive an event of the payment provider',
          description,
          headers: WebhookHeaders,
          problems: ['invalid_signature', 'stale_signature', 'billing_not_configured'],
        },
      },
      (request, reply) => receive(deps, 'paddle', request, reply),
    );

    scope.post(
      '/api/v1/webhooks/:provider',
      {
        ...unvalidated,
        schema: {
          ...common,
          response: { ...common.response, 202: partlyReceived },
          operationId: 'receiveProviderWebhook',
          summary: 'Receive an event of another payment provider',
          description: `${description} Each provider signs in headers of its own.`,
          params: ProviderPath,
          problems: [
            'unknown_provider',
            'invalid_signature',
            'stale_signature',
            'billing_not_configured',
          ],
        },
      },
      (request, reply) => receive(deps, request.params.provider, request, reply),
    );

    scope.post(
      '/api/v1/webhooks/gumroad/:secret',
      {
        ...unvalidated,
        schema: {
          ...common,
          body: gumroadPing,
          operationId: 'receiveGumroadPing',
          summary: 'Receive a ping of Gumroad',
          description:
            'Gumroad signs nothing: the address contains a secret, and a ping changes nothing until the API of Gumroad has confirmed it.',
          params: GumroadPath,
          problems: ['invalid_signature', 'billing_not_configured'],
        },
      },
      (request, reply) => receive(deps, 'gumroad', request, reply, request.params.secret),
    );
  });
}

async function receive(
  deps: BillingDependencies,
  provider: string,
  { headers, body }: Pick<FastifyRequest, 'headers' | 'body'>,
  reply: FastifyReply,
  addressSecret?: string,
): Promise<WebhookResponse | void> {
  const rawBody = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  const secret = addressSecret === undefined ? {} : { addressSecret };
  const delivery = { headers, rawBody, ...secret };
  const received = await receiveWebhook(deps, provider, delivery, () =>
    addressSecret !== undefined && isForm(headers['content-type'])
      ? readForm(headers['content-type'], rawBody).then(Object.fromEntries)
      : readJsonBody(headers, rawBody),
  );
  if (!('finishedIds' in received)) return received;
  await reply.code(202).type('text/plain; charset=utf-8').send(received.finishedIds.join('\n'));
}
