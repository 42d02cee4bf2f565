import { OutreachHeaders, OutreachRequest, OutreachResponse, ref } from '@latchkey/contract';
import type { Context } from '#server/context.ts';
import { notImplemented } from '#server/errors.ts';
import type { App } from '#server/http/app-instance.ts';
import { requireApiKey } from '#server/http/require-api-key.ts';

import { authenticateApiKey } from '../api-keys/authenticate.ts';

/** In bytes: 500 recipients with long names fit well. */
const OUTREACH_BODY_LIMIT_BYTES = 512 * 1024;

/** E-mail in bulk, from fixed templates. */
export function registerOutreachRoutes(app: App, ctx: Context): void {
  app.post(
    '/api/v1/outreach/send',
    {
      preHandler: requireApiKey((presented) => authenticateApiKey(ctx, presented, 'outreach:send')),
      bodyLimit: OUTREACH_BODY_LIMIT_BYTES,
      schema: {
        operationId: 'sendOutreach',
        tags: ['outreach'],
        summary: 'Send an e-mail to many recipients',
        headers: OutreachHeaders,
        body: ref(OutreachRequest),
        response: { 200: ref(OutreachResponse, 'What became of each recipient.') },
        problems: ['invalid_api_key', 'insufficient_scope', 'idempotency_key_reused'],
      },
    },
    async () => {
      throw notImplemented();
    },
  );
}
