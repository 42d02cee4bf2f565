import type { WebhookDeliveryItem, WebhookEndpoint } from '@latchkey/contract';
import { webhookDeliveries } from '@latchkey/contract/admin/webhook-deliveries';
import { webhookEndpoints } from '@latchkey/contract/admin/webhooks';

import { pathOf } from '#console/app/call.ts';
import type { Tone } from '#console/ui/badge.tsx';
import { toOptions } from '#console/ui/labels.ts';

/** What changes when an endpoint or a delivery changes. */
export const WEBHOOK_RESOURCES = [pathOf(webhookEndpoints.list), pathOf(webhookDeliveries.list)];

/** Every event type, with what it means. */
export const EVENT_TYPES: readonly (readonly [type: string, meaning: string])[] = [
  ['license.created', 'a license was issued or bought'],
  ['license.renewed', 'its term was extended'],
  ['license.expired', 'its term ended'],
  ['license.status_changed', 'its status changed'],
  ['license.key_replaced', 'its key was replaced'],
  ['activation.added', 'a machine was activated'],
  ['activation.removed', 'a machine was removed'],
  ['trial.started', 'a trial began'],
];

export const TYPE_OPTIONS = EVENT_TYPES.map(([value]) => ({ value, label: value }));

const DELIVERY_TONES: Readonly<Record<WebhookDeliveryItem['state'], Tone>> = {
  pending: 'info',
  retrying: 'warning',
  delivered: 'good',
  failed: 'bad',
};

export function toneOfDelivery(state: WebhookDeliveryItem['state']): Tone {
  return DELIVERY_TONES[state];
}

export const DELIVERY_STATES = toOptions(Object.keys(DELIVERY_TONES));

const ENDPOINT_STATES: Readonly<
  Record<WebhookEndpoint['state'], readonly [word: string, tone: Tone]>
> = {
  active: ['active', 'good'],
  failing: ['failing', 'warning'],
  disabled: ['paused', 'bad'],
};

export function labelOfEndpoint({ state }: Pick<WebhookEndpoint, 'state'>): string {
  return ENDPOINT_STATES[state][0];
}

export function toneOfEndpoint({ state }: Pick<WebhookEndpoint, 'state'>): Tone {
  return ENDPOINT_STATES[state][1];
}

/** The page of a delivery. */
export function pathOfDelivery(delivery: {
  readonly message_id: string;
  readonly endpoint_id: string;
}): string {
  return `/webhooks/${delivery.endpoint_id}/${encodeURIComponent(delivery.message_id)}`;
}

/** The host and the path of an endpoint: several may have one host. */
export function nameEndpoint(url: string): string {
  if (!URL.canParse(url)) return url;
  const { host, pathname } = new URL(url);
  return pathname === '/' ? host : host + pathname;
}
