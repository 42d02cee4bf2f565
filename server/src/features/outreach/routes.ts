/** Feature: bulk e-mail from fixed templates, sent at most once per idempotency key. */
import { OutreachHeaders, OutreachRequest, OutreachResponse, ref } from '@latchkey/contract';

import { invalidRequest } from '#server/errors.ts';
import type { App } from '#server/http/app-instance.ts';
import { requireApiKey } from '#server/http/require-api-key.ts';

import { authenticateApiKey, type AuthenticatedApiKey } from '../api-keys/authenticate.ts';
import type { OutreachDependencies } from './dependencies.ts';
import { sendOutreach } from './send-outreach.ts';

/** Enough for 500 recipients with long names. */
const OUTREACH_BODY_LIMIT_BYTES = 512 * 1024;

type OutreachRouteDependencies = OutreachDependencies & Parameters<typeof authenticateApiKey>[0];

export function registerOutreachRoutes(app: App, deps: OutreachRouteDependencies): void {
  const keys = new WeakMap<object, AuthenticatedApiKey>();
  app.post(
    '/api/v1/outreach/send',
    {
      preHandler: (request) =>
        requireApiKey(async (presented) => {
          keys.set(request, await authenticateApiKey(deps, presented, 'outreach:send'));
        })(request),
      bodyLimit: OUTREACH_BODY_LIMIT_BYTES,
      schema: {
        operationId: 'sendOutreach',
        tags: ['outreach'],
        summary: 'Send an e-mail to many recipients',
        description:
          'Answers a valid request with 200 within a minute, whatever the result of each recipient. `error` is one of `suppressed`, `duplicate`, `mail_not_configured`, `deadline`, `interrupted`, `address`, `connection`, `timeout`, `tls`, `login`, `unknown`, or `smtp_` and the code of the relay, followed by its reply after a colon. All but `unknown` mean that nothing was sent.',
        headers: OutreachHeaders,
        body: ref(OutreachRequest),
        response: { 200: ref(OutreachResponse, 'The result of each recipient.') },
        problems: ['invalid_api_key', 'insufficient_scope', 'idempotency_key_reused'],
      },
    },
    (request) =>
      sendOutreach(deps, {
        apiKeyId: keys.get(request)?.id ?? null,
        idempotencyKey: readIdempotencyKey(request.headers['idempotency-key']),
        request: request.body,
      }),
  );
}

/** Rejects an empty key, which would make all requests of a faulty client the same one. */
function readIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === 'string' && header !== '') return header;
  const loc = ['header', 'Idempotency-Key'];
  throw invalidRequest([{ loc, msg: 'Idempotency-Key must not be empty', type: 'value_error' }]);
}
