/** The resources that the paths of the operator interface name, each new and real. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { addEndpoint } from '#server/features/outgoing-webhooks/add-endpoint.ts';
import { addServer } from '#server/features/fleet/change-servers.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';

import { readBody, readItems } from './acceptance/bodies.ts';
import { createKey } from './api-key-steps.ts';
import { CAMPAIGNS, CONTENT } from './campaign-steps.ts';
import type { TestService } from './harness.ts';
import { activate } from './license-steps.ts';
import { openBrowser, type Browser } from './operator-steps.ts';
import { paddleTransactionCompleted } from './payment-providers/paddle-events.ts';
import { createPaddlePurchase, deliverPaddle } from './payment-providers/paddle-steps.ts';

/** The values of the parameters of a path. */
export type PathIds = Readonly<Record<string, string>>;

/** @param verb the last part of the path */
type Create = (service: TestService, admin: Browser, verb: string) => Promise<PathIds>;

const ADMIN = '/api/v1/admin';

async function firstItem(admin: Browser, path: string, by: string, value?: string) {
  const answer = await admin.get(`${ADMIN}/${path}`);
  assert.equal(answer.status, 200, answer.text);
  const found = readItems(answer.body).find((item) => value === undefined || item[by] === value);
  assert.ok(found, path);
  return found;
}

const anyEndpoint = ({ context }: TestService) =>
  addEndpoint(
    context,
    { url: `https://${randomUUID()}.example.com/hook`, eventTypes: [], description: null },
    { actor: 'test', reason: null },
  );

/** The creators by the first part of a path that has parameters. */
const CREATORS: Readonly<Record<string, Create>> = {
  async installs(service) {
    return storeEvent(service);
  },
  async 'events/stored'(service) {
    return storeEvent(service);
  },
  async sessions(_service, admin) {
    return { id: String((await firstItem(admin, 'sessions', 'id'))['id']) };
  },
  async 'session/passkeys'({ clock, pool }, { operatorId }) {
    const id = randomUUID();
    await pool.query(
      `insert into operator_passkeys (id, operator_id, credential_id, public_key, sign_count, is_synced, name, created_at)
       values ($1, $2, $4, '', 0, false, 'key', $3)`,
      [id, operatorId, clock.now(), Buffer.from(id)],
    );
    return { id };
  },
  async 'api-keys'(service) {
    return { id: (await createKey(service)).key.id };
  },
  /** A retired key, since the signing one cannot be revoked. */
  async 'signing-keys'(_service, admin) {
    const body = { immediately: true, reason: 'a test asks for it' };
    assert.equal((await admin.post(`${ADMIN}/signing-keys/rotate`, body)).status, 200);
    const { kid } = await firstItem(admin, 'signing-keys', 'state', 'retired');
    return { kid: String(kid) };
  },
  async operators(service) {
    const { operatorId } = await openBrowser(service, 'viewer');
    const { rows } = await service.pool.query<{ id: string }>(
      'select id from operator_sessions where operator_id = $1',
      [operatorId],
    );
    return { id: operatorId, session_id: rows[0]?.id ?? '' };
  },
  async licenses(service) {
    const { license, licenseKey } = await service.issue();
    const { activation_id: activationId } = await activate(service, licenseKey);
    return { id: license.id, activation_id: activationId };
  },
  async 'outreach/campaigns'({ clock, pool }, admin, verb) {
    const { status, body, text } = await admin.post(CAMPAIGNS, CONTENT);
    assert.equal(status, 200, text);
    const id = String(readBody(body)['id']);
    const state = { pause: 'sending', resume: 'paused', cancel: 'paused' }[verb];
    if (state !== undefined) {
      const change = 'update outreach_campaigns set state = $2, started_at = $3 where id = $1';
      await pool.query(change, [id, state, clock.now()]);
    }
    return { id };
  },
  async subscribers(service, admin) {
    const email = `${randomUUID()}@example.com`;
    assert.equal((await service.post('/api/v1/subscribers', { email })).status, 201);
    return { id: String((await firstItem(admin, `subscribers?search=${email}`, 'id'))['id']) };
  },
  async 'payment-events'(service) {
    const event = paddleTransactionCompleted(createPaddlePurchase().once);
    await deliverPaddle(service, event);
    await service.pool.query(`update billing_events set status = 'failed' where event_id = $1`, [
      event.event_id,
    ]);
    return { provider: 'paddle', event_id: event.event_id };
  },
  async 'webhook-endpoints'(service) {
    return { id: (await anyEndpoint(service)).endpoint.id };
  },
  async 'webhook-deliveries'(service, admin) {
    const { id } = (await anyEndpoint(service)).endpoint;
    await service.issue();
    const found = await firstItem(admin, 'webhook-deliveries', 'endpoint_id', id);
    return { message_id: String(found['message_id']), endpoint_id: id };
  },
  async 'fleet-servers'({ context }) {
    const entry = { name: 'server', address: `${randomUUID()}.example.com`, labels: [] };
    return { id: (await addServer(context, entry, { actor: 'test', reason: null })).id };
  },
  async jobs({ pool }) {
    const key = randomUUID();
    const payload = { provider: 'paddle', transactionId: key };
    await addJobs(pool, [{ name: 'send_key_email', payload, key, maxAttempts: 3 }]);
    const { rows } = await pool.query(`select id from jobs where key = $1`, [
      `send_key_email:${key}`,
    ]);
    return { id: String(rows[0]?.id) };
  },
  async mails(service) {
    const { once, transactionId } = createPaddlePurchase();
    await deliverPaddle(service, paddleTransactionCompleted(once));
    await service.pool.query(
      `insert into key_emails (transaction_id, provider, state, reason, created_at)
       values ($1, 'paddle', 'refused', 'smtp_550', $2)
       on conflict (transaction_id, provider) do update set state = 'refused', reason = 'smtp_550'`,
      [transactionId, service.clock.now()],
    );
    return { id: `key:paddle:${transactionId}` };
  },
};

async function storeEvent(service: TestService): Promise<PathIds> {
  const [id, eventId] = [randomUUID(), randomUUID()];
  const event = {
    event_id: eventId,
    name: 'app_started',
    occurred_at: service.clock.now().toISOString(),
  };
  const { status, text } = await service.post('/api/v1/events', {
    install_id: id,
    session_id: randomUUID(),
    app_version: '1.0.0',
    events: [event],
  });
  assert.equal(status, 200, text);
  return { id, event_id: eventId };
}

/** Creates what a path names, and returns the path with its ids. @param route the path with its parameters, as `:id` */
export async function fillPath(
  service: TestService,
  admin: Browser,
  route: string,
): Promise<string> {
  if (!route.includes('/:')) return route;
  const [area = ''] = route.slice(`${ADMIN}/`.length).split('/:');
  const create = CREATORS[area];
  assert.ok(create, `no resource for ${route}`);
  const ids = await create(service, admin, route.split('/').at(-1) ?? '');
  return route.replaceAll(/:(\w+)/g, (_all, name: string) => encodeURIComponent(ids[name] ?? ''));
}
