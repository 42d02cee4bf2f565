/** A service with an endpoint for webhooks, whose deliveries a test makes one after the other. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach } from 'node:test';

import { Webhook } from 'standardwebhooks';

import { startTestService } from '../../../test/harness.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../../test/webhook-receiver.ts';
import { deliverDue } from '../../../test/webhook-steps.ts';
import { addEndpoint } from './add-endpoint.ts';
import type { DeliveryDependencies } from './deliver.ts';
import { listDeliveries } from './queries/delivery-log.ts';

/** The actor and the reason of a change. */
export const change = { actor: 'test', reason: 'requested by a test' };

/** Starts a service; each test has a new receiver with an endpoint. */
export async function openDeliveries() {
  const service = await startTestService();
  const { pool } = service;
  /** Disables jitter, so that the clock can be set to the end of a delay. */
  const deps = { ...service.context, random: () => 0.5 } satisfies DeliveryDependencies;
  let receiver: WebhookReceiver;
  let endpoint: { readonly id: string; readonly secret: string };

  async function register(url: string) {
    const order = { url, eventTypes: [], description: null };
    const added = await addEndpoint(service.context, order, change);
    return { id: added.endpoint.id, secret: added.secret };
  }

  /** Returns the newest delivery of the log. */
  async function readLast() {
    const filter = { endpointId: null, failedOnly: false, limit: 1 };
    const [last] = await listDeliveries(pool, filter);
    assert.ok(last !== undefined);
    return last;
  }

  /** Verifies a received request by a secret, and returns its event. */
  function verify(index: number, by: string): unknown {
    const request = receiver.received[index];
    assert.ok(request !== undefined);
    const { headers, body } = request;
    return new Webhook(by).verify(body, {
      'webhook-id': String(headers['webhook-id']),
      'webhook-timestamp': String(headers['webhook-timestamp']),
      'webhook-signature': String(headers['webhook-signature']),
    });
  }

  beforeEach(async () => {
    // Receivers compare the time of a message with their clock.
    service.clock.set(new Date());
    await pool.query('truncate webhook_endpoints, webhook_messages, webhook_deliveries');
    receiver = await startWebhookReceiver();
    endpoint = await register(receiver.url);
  });
  afterEach(() => receiver[Symbol.asyncDispose]());

  return {
    service,
    pool,
    deps,
    register,
    get receiver() {
      return receiver;
    },
    get endpointId() {
      return endpoint.id;
    },
    get secret() {
      return endpoint.secret;
    },
    deliver: (): Promise<number> => deliverDue(deps, 10),
    readLast,
    verify,
  };
}
