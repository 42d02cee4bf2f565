/**
 * Loaded before the service with `--import`: adds `/bench/empty/validate`, a route with the schemas and the size of answer of
 * a validation that does no work. Fastify publishes each new instance, so the service needs no code for it.
 */
import { subscribe } from 'node:diagnostics_channel';

import { validateOperation } from '#server/features/licenses/routes.ts';
import type { App } from '#server/http/app-instance.ts';
import { isRecord } from '#server/lib/unknown-values.ts';

import { VALIDATE_RESPONSE } from './lib/sample-responses.ts';

subscribe('fastify.initialization', (message) => {
  if (!isInitialization(message)) throw new Error('fastify.initialization carries no instance');
  message.fastify.post(
    '/bench/empty/validate',
    { schema: validateOperation },
    async () => VALIDATE_RESPONSE,
  );
});

/** https://fastify.dev/docs/latest/Reference/Hooks/#diagnostics-channel-hooks */
function isInitialization(message: unknown): message is { readonly fastify: App } {
  return isRecord(message) && isRecord(message['fastify']) && 'post' in message['fastify'];
}
