/** The deliveries of outgoing webhooks for operators: list, show and replay. */
import {
  replayWebhookDeliveries,
  replayWebhookDelivery,
  showWebhookDelivery,
  webhookDeliveries,
  type WebhookReplay,
} from '@latchkey/contract';

import type { App } from '#server/http/app-instance.ts';
import { serveOperation } from '#server/http/serve-operation.ts';
import { readTimeFilter } from '#server/lib/read-time-filter.ts';

import { serveList, type ListDependencies } from '../lists/serve-list.ts';
import { deliverySource, showDelivery } from './list-deliveries.ts';
import { replayDeliveries } from './replay.ts';

export function registerDeliveryRoutes(app: App, deps: ListDependencies): void {
  serveList(app, deps, webhookDeliveries, deliverySource(deps));
  serveOperation(app, showWebhookDelivery, ({ params, operator }) => {
    const { message_id: messageId, endpoint_id: endpointId } = params;
    return showDelivery(deps, messageId, endpointId, operator.role === 'admin');
  });
  serveOperation(app, replayWebhookDelivery, ({ params, body, operator }) => {
    const { message_id: messageId, endpoint_id: idOrUrl } = params;
    const change = { actor: operator.actor, reason: body.reason };
    return replay(deps, { subject: { messageId }, idOrUrl, ...change });
  });
  serveOperation(app, replayWebhookDeliveries, ({ body, operator }) => {
    const { endpoint_id: idOrUrl = null, reason } = body;
    const failedSince = readTimeFilter('body', 'since', body.since);
    return replay(deps, { subject: { failedSince }, idOrUrl, actor: operator.actor, reason });
  });
}

async function replay(
  deps: ListDependencies,
  which: Parameters<typeof replayDeliveries>[1],
): Promise<WebhookReplay> {
  const { count, waiting } = await replayDeliveries(deps, which);
  return {
    replayed: count,
    waiting: waiting.reduce((total, each) => total + each.count, 0),
  };
}
