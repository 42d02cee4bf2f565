import type { Context } from '#server/context.ts';

import { requireEndpoint } from './change-endpoint.ts';
import { noteEndpointSuccess, type EndpointRecord } from './queries/endpoints.ts';
import { makeMessageId } from './record-events.ts';
import { openSecrets } from './secrets.ts';
import { sendMessage, type SendOutcome } from './send-message.ts';

/** A type that no endpoint can choose: receivers answer 2xx to what they do not know. */
const TEST_TYPE = 'endpoint.test';

/**
 * Sends an endpoint a signed test message, once and now, also when it is disabled; it is not in the log. When the
 * endpoint takes it, its time of failures is over.
 * @throws EndpointRefusal when there is no such endpoint
 */
export async function sendTest(
  ctx: Context,
  idOrUrl: string,
): Promise<{ readonly endpoint: EndpointRecord; readonly outcome: SendOutcome }> {
  const endpoint = await requireEndpoint(ctx, idOrUrl);
  const now = ctx.clock.now();
  const data = { endpoint_id: endpoint.id };
  const payload = JSON.stringify({ type: TEST_TYPE, timestamp: now.toISOString(), data });
  const secrets = openSecrets(ctx.vault, endpoint, now);
  const outcome = await sendMessage(endpoint.url, { id: makeMessageId(), payload }, secrets, now);
  if (outcome.delivered) await noteEndpointSuccess(ctx.pool, endpoint.id);
  return { endpoint, outcome };
}
