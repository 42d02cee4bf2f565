import { OutreachHeaders, OutreachRequest, OutreachResponse, ref } from '@latchkey/contract';
import type { Context } from '#server/context.ts';
import { invalidRequest } from '#server/errors.ts';
import type { App } from '#server/http/app-instance.ts';
import { requireApiKey } from '#server/http/require-api-key.ts';

import { authenticateApiKey, type AuthenticatedApiKey } from '../api-keys/authenticate.ts';
import { sendOutreach } from './send-outreach.ts';

/** In bytes: 500 recipients with long names fit well. */
const OUTREACH_BODY_LIMIT_BYTES = 512 * 1024;

/** E-mail in bulk, from fixed templates. */
export function registerOutreachRoutes(app: App, ctx: Context): void {
  const keys = new WeakMap<object, AuthenticatedApiKey>();
  app.post(
    '/api/v1/outreach/send',
    {
      preHandler: (request) =>
        requireApiKey(async (presented) => {
          keys.set(request, await authenticateApiKey(ctx, presented, 'outreach:send'));
        })(request),
      bodyLimit: OUTREACH_BODY_LIMIT_BYTES,
      schema: {
        operationId: 'sendOutreach',
        tags: ['outreach'],
        summary: 'Send an e-mail to many recipients',
        description:
          'Answers 200 when the request is in order, whatever became of each recipient, within a minute. `error` is one of `suppressed`, `duplicate`, `mail_not_configured`, `deadline`, `interrupted`, `address`, `connection`, `timeout`, `tls`, `login`, `unknown`, or `smtp_` and the code of the relay, its words after a colon. All but `unknown` mean that nothing was sent.',
        headers: OutreachHeaders,
        body: ref(OutreachRequest),
        response: { 200: ref(OutreachResponse, 'What became of each recipient.') },
        problems: ['invalid_api_key', 'insufficient_scope', 'idempotency_key_reused'],
      },
    },
    (request) =>
      sendOutreach(ctx, {
        apiKeyId: keys.get(request)?.id ?? null,
        idempotencyKey: readIdempotencyKey(request.headers['idempotency-key']),
        request: request.body,
      }),
  );
}

/** An empty one is somebody's mistake, and would make all of their requests the same one. */
function readIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === 'string' && header !== '') return header;
  const loc = ['header', 'Idempotency-Key'];
  throw invalidRequest([{ loc, msg: 'Idempotency-Key must not be empty', type: 'value_error' }]);
}
