import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';

import { addEndpoint } from '#server/features/outgoing-webhooks/add-endpoint.ts';

import { createKey } from '../api-key-steps.ts';
import { emptyAuditLog } from '../audit-log.ts';
import { startTestService } from '../harness.ts';
import { openBrowser } from '../operator-steps.ts';
import { DAY_MS, SECOND_MS } from '../test-clock.ts';
import { startWebhookReceiver } from '../webhook-receiver.ts';
import { deliverDue } from '../webhook-steps.ts';
import { problem, readBody, validationErrorsOf } from './bodies.ts';

const ENDPOINTS = '/api/v1/admin/webhook-endpoints';
const DELIVERIES = '/api/v1/admin/webhook-deliveries';
const HOSTILE = `<script>alert(1)</script>\u202E${'x'.repeat(10_000)}`;
const reason = 'the receiver moved';
const UNKNOWN = '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d';

const service = await startTestService();
const { pool, clock, context } = service;
const admin = await openBrowser(service);
const viewer = await openBrowser(service, 'viewer');
const support = await openBrowser(service, 'support');
const receiver = await startWebhookReceiver();
after(() => receiver[Symbol.asyncDispose]());

let id = '';
const actor = `operator:${admin.email}`;

beforeEach(async () => {
  await pool.query(
    'truncate webhook_endpoints, webhook_messages, webhook_deliveries, webhook_attempts',
  );
  receiver.answer(204);
  const order = { url: receiver.url, eventTypes: [], description: null };
  ({
    endpoint: { id },
  } = await addEndpoint(context, order, { actor: 'test', reason: null }));
  await emptyAuditLog(pool);
});

type Fields = Readonly<Record<string, unknown>>;

function readItems(body: unknown, field = 'items'): Fields[] {
  const items = readBody(body)[field];
  assert.ok(Array.isArray(items));
  return items.map(readBody);
}

async function show(path: string): Promise<Fields> {
  const answer = await viewer.get(path);
  assert.equal(answer.status, 200, answer.text);
  return readBody(answer.body);
}

async function readAudit(): Promise<unknown[]> {
  const { rows } = await pool.query(
    'select actor, action, subject_id, reason, details from audit_log order by sequence',
  );
  return rows;
}

const host = new URL(receiver.url).host;

describe('endpoints', () => {
  test('adds an endpoint, and shows its secret once', async () => {
    const events = ['license.created', 'license.expired'];
    const url = 'https://crm.example.com/hooks';
    const answer = await admin.post(ENDPOINTS, { url, events, description: 'CRM', reason });
    assert.equal(answer.status, 200, answer.text);
    const { secret, endpoint } = readBody(answer.body);
    assert.match(String(secret), /^whsec_/);
    const { id: added, ...fields } = readBody(endpoint);
    assert.deepEqual(fields, {
      url,
      description: 'CRM',
      events,
      state: 'active',
      disabled_reason: null,
      created_at: clock.now().toISOString(),
      failing_since: null,
      disabled_at: null,
      previous_secret_until: null,
      version: 1,
    });
    const details = { host: 'crm.example.com', events: events.join(' ') };
    const entry = { action: 'endpoint.add', subject_id: added, reason, details };
    assert.deepEqual(await readAudit(), [{ actor, ...entry }]);
    const listed = await viewer.get(ENDPOINTS);
    assert.deepEqual(
      readItems(listed.body).map((each) => [each['url'], each['pending'], each['failed']]),
      [
        [receiver.url, 0, 0],
        [url, 0, 0],
      ],
    );
    assert.ok(!listed.text.includes(String(secret)));
  });

  test('lists endpoints by text and state, in pages, and exports them with an audit entry', async () => {
    const urlsOf = async (query: string) =>
      readItems((await viewer.get(`${ENDPOINTS}?${query}`)).body).map(({ url }) => url);
    const crm = 'https://crm.example.com/hooks';
    const events = ['license.created', 'license.expired'];
    clock.advance(1);
    await admin.post(ENDPOINTS, { url: crm, events, description: 'CRM', reason });
    assert.deepEqual(await urlsOf('search=CRM'), [crm]);
    assert.deepEqual(await urlsOf('search=nothing'), []);
    assert.deepEqual(await urlsOf('state=disabled'), []);
    assert.deepEqual(await urlsOf('state=active&sort=-created_at'), [crm, receiver.url]);
    const first = readBody((await viewer.get(`${ENDPOINTS}?limit=1`)).body);
    const cursor = String(first['next_cursor']);
    assert.deepEqual(
      readItems(first).map(({ url }) => url),
      [receiver.url],
    );
    assert.deepEqual(await urlsOf(`limit=1&cursor=${cursor}`), [crm]);
    const { text } = await viewer.get(`${ENDPOINTS}/export?search=crm`);
    const [head, ...lines] = text.trim().split('\r\n');
    assert.equal(
      head,
      'id,url,description,events,state,disabled_reason,pending,failed,created_at,failing_since,disabled_at',
    );
    assert.deepEqual(
      lines.map((line) => line.split(',').slice(1, 8)),
      [[crm, 'CRM', 'license.created license.expired', 'active', '', '0', '0']],
    );
    const { action, subject_id: subject } = readBody((await readAudit()).at(-1));
    assert.deepEqual([action, subject], ['endpoint.export', 'webhook endpoints']);
  });

  test('409: rejects a URL that is registered or invalid; 422: an unknown event', async () => {
    for (const [url, message] of [
      [receiver.url, /registered already/],
      ['ftp://crm.example.com', /https:\/\//],
      ['https://a:b@crm.example.com', /user name or password/],
      ['http://169.254.169.254/latest', /LATCHKEY_WEBHOOK_ALLOWED_NETWORKS/],
      ['http://[::ffff:10.0.0.1]', /LATCHKEY_WEBHOOK_ALLOWED_NETWORKS/],
    ] as const) {
      const { status, body } = await admin.post(ENDPOINTS, { url, events: [], reason });
      assert.equal(status, 409);
      assert.equal(readBody(body)['code'], 'not_possible');
      assert.match(String(readBody(body)['detail']), message);
    }
    const unknown = { url: 'https://crm.example.com', events: ['license.sold'], reason };
    const { body } = await admin.post(ENDPOINTS, unknown);
    assert.equal(validationErrorsOf(body)[0]?.[0], 'body.events.0');
  });

  test('edits the events; the second of two operators gets a conflict with the current state', async () => {
    const change = { events: ['trial.started'], description: 'trials', reason };
    const path = `${ENDPOINTS}/${id}/update`;
    const { status, body } = await admin.post(path, { ...change, expected_version: 1 });
    assert.deepEqual(
      [status, readBody(body)['events'], readBody(body)['description'], readBody(body)['version']],
      [200, ['trial.started'], 'trials', 2],
    );
    const details = { host, events: 'trial.started' };
    const entry = { action: 'endpoint.edit', subject_id: id, reason, details };
    assert.deepEqual(await readAudit(), [{ actor, ...entry }]);
    const second = await admin.post(path, { ...change, events: [], expected_version: 1 });
    assert.deepEqual([second.status, second.body], [409, problem('conflict', { current: body })]);
  });

  test('pauses and resumes; a failure of a delivery in between is no conflict', async () => {
    await service.issue();
    receiver.answer(500);
    await deliverDue(context, 10);
    const paused = await admin.post(`${ENDPOINTS}/${id}/disable`, { expected_version: 1, reason });
    assert.deepEqual(
      [paused.status, readBody(paused.body)['state'], readBody(paused.body)['disabled_reason']],
      [200, 'disabled', 'operator'],
    );
    const resumed = await admin.post(`${ENDPOINTS}/${id}/enable`, { expected_version: 2, reason });
    assert.deepEqual([resumed.status, readBody(resumed.body)['state']], [200, 'active']);
    assert.equal((await show(`${ENDPOINTS}/${id}`))['pending'], 1);
  });

  test('rotates the secret with an overlap', async () => {
    const body = { overlap_seconds: 3_600, expected_version: 1, reason };
    const answer = await admin.post(`${ENDPOINTS}/${id}/roll`, body);
    const { secret, endpoint } = readBody(answer.body);
    assert.match(String(secret), /^whsec_/);
    assert.equal(
      readBody(endpoint)['previous_secret_until'],
      new Date(clock.now().getTime() + 3_600_000).toISOString(),
    );
  });

  test('sends a test message, and shows the beginning of the answer as text', async () => {
    receiver.answer((response) => response.writeHead(500).end(HOSTILE));
    const { status, body } = await admin.post(`${ENDPOINTS}/${id}/test`);
    const { duration_ms: ms, answer, ...outcome } = readBody(body);
    assert.ok(typeof ms === 'number' && typeof answer === 'string');
    assert.ok(HOSTILE.startsWith(answer) && answer.length > 900);
    assert.deepEqual(
      [status, outcome],
      [200, { delivered: false, status: 500, error: 'answered 500' }],
    );
    const details = { host: new URL(receiver.url).host };
    const entry = { actor, action: 'endpoint.test', subject_id: id, reason: null, details };
    assert.deepEqual(await readAudit(), [entry]);
  });

  test('removes an endpoint, once a fresh proof is there', async () => {
    const body = { expected_version: 1, reason };
    const fresh = clock.now();
    clock.advance(600 * SECOND_MS);
    const refused = await admin.post(`${ENDPOINTS}/${id}/remove`, body);
    clock.set(fresh);
    assert.deepEqual(refused.body, problem('fresh_proof_required'));
    assert.equal(await service.count('webhook_endpoints'), 1);
    const { status } = await admin.post(`${ENDPOINTS}/${id}/remove`, body);
    assert.deepEqual([status, await service.count('webhook_endpoints')], [200, 0]);
  });

  test('404: an unknown endpoint', async () => {
    const change = { expected_version: 1, reason };
    for (const [verb, body] of [
      ['update', { ...change, events: [], description: null }],
      ['disable', change],
      ['enable', change],
      ['remove', change],
      ['roll', { ...change, overlap_seconds: 0 }],
      ['test', {}],
    ] as const) {
      const answer = await admin.post(`${ENDPOINTS}/${UNKNOWN}/${verb}`, body);
      assert.equal(answer.status, 404, verb);
    }
    assert.equal((await viewer.get(`${ENDPOINTS}/${UNKNOWN}`)).status, 404);
  });
});

const pathOf = ({ message_id: message, endpoint_id: endpoint }: Fields) =>
  `${DELIVERIES}/${String(message)}/${String(endpoint)}`;
const list = async (query = '') => readItems((await viewer.get(`${DELIVERIES}?${query}`)).body);

describe('deliveries', () => {
  test('lists deliveries by state, endpoint, type, time and license', async () => {
    const { license } = await service.issue();
    receiver.answer(500);
    await deliverDue(context, 10);
    const [delivery] = await list();
    assert.deepEqual(delivery, {
      message_id: delivery?.['message_id'],
      endpoint_id: id,
      endpoint_url: receiver.url,
      type: 'license.created',
      license_id: license.id,
      state: 'retrying',
      attempts: 1,
      created_at: clock.now().toISOString(),
      last_attempt_at: clock.now().toISOString(),
      next_attempt_at: delivery?.['next_attempt_at'],
      last_status: 500,
      last_duration_ms: delivery?.['last_duration_ms'],
      last_error: 'answered 500',
    });
    for (const [query, count] of [
      ['state=retrying', 1],
      ['state=pending', 0],
      ['state=failed', 0],
      [`endpoint_id=${id}`, 1],
      [`endpoint_id=${UNKNOWN}`, 0],
      ['type=license.created', 1],
      ['type=trial.started', 0],
      ['since=2000-01-01T00:00:00Z', 1],
      ['until=2000-01-01T00:00:00Z', 0],
      [`search=${license.id}`, 1],
      [`search=${String(delivery?.['message_id'])}`, 1],
      ['search=msg_x', 0],
    ] as const) {
      assert.equal((await list(query)).length, count, query);
    }
  });

  test('shows the payload and every attempt with the beginning of its answer', async () => {
    await service.issue({ customerEmail: 'ada@example.com' });
    receiver.answer((response) => response.writeHead(500).end(HOSTILE));
    await deliverDue(context, 10);
    clock.advance(10 * SECOND_MS);
    receiver.answer(204);
    await deliverDue(context, 10);
    const [delivery = {}] = await list('state=delivered');
    const { payload, history } = readBody((await admin.get(pathOf(delivery))).body);
    const { data } = readBody(JSON.parse(String(payload)));
    assert.equal(readBody(data)['customer_email'], 'ada@example.com');
    const [second, first] = readItems({ history }, 'history');
    assert.deepEqual([second?.['status'], second?.['answer']], [204, null]);
    assert.deepEqual([first?.['status'], first?.['error']], [500, 'answered 500']);
    assert.ok(HOSTILE.startsWith(String(first?.['answer'])));
  });

  test('shows the answers of receivers to admins and admin API keys only', async () => {
    await service.issue();
    receiver.answer((response) => response.writeHead(500).end('an internal page'));
    await deliverDue(context, 10);
    const [delivery = {}] = await list();
    const paths = [pathOf(delivery), DELIVERIES, `${ENDPOINTS}/${id}`, ENDPOINTS];
    for (const browser of [viewer, support]) {
      for (const path of paths) {
        const { status, text } = await browser.get(path);
        assert.deepEqual([status, text.includes('an internal page')], [200, false], path);
      }
    }
    const { text } = await admin.get(`${DELIVERIES}/export`);
    assert.ok(!text.includes('an internal page'));
    const attemptOf = async (headers: Record<string, string>) =>
      readItems((await service.get(pathOf(delivery), headers)).body, 'history')[0];
    for (const [scope, answer] of [
      ['admin:read', null],
      ['admin', 'an internal page'],
    ] as const) {
      const { apiKey } = await createKey(service, { scopes: [scope] });
      const attempt = await attemptOf({ 'x-api-key': apiKey });
      assert.deepEqual([attempt?.['status'], attempt?.['answer']], [500, answer], scope);
    }
  });

  test('replays one delivery and all failed ones, with audit entries', async () => {
    await service.issue();
    await service.issue();
    await pool.query(
      `update webhook_deliveries set state = 'failed', next_attempt_at = null, last_error = 'x'`,
    );
    const [one = {}] = await list('state=failed');
    const answer = await admin.post(`${pathOf(one)}/replay`, { reason });
    assert.deepEqual([answer.status, answer.body], [200, { replayed: 1, waiting: 0 }]);
    const since = new Date(clock.now().getTime() - DAY_MS).toISOString();
    const disable = { expected_version: 1, reason };
    await admin.post(`${ENDPOINTS}/${id}/disable`, disable);
    const all = await admin.post(`${DELIVERIES}/replay`, { since, endpoint_id: id, reason });
    assert.deepEqual([all.status, all.body], [200, { replayed: 1, waiting: 1 }]);
    const replays = (await readAudit()).filter(
      (entry) => readBody(entry)['action'] === 'endpoint.replay',
    );
    const details = { count: 1, endpoint_id: id };
    const common = { actor, action: 'endpoint.replay', reason, details };
    assert.deepEqual(replays, [
      { ...common, subject_id: one['message_id'] },
      { ...common, subject_id: 'failed' },
    ]);
  });

  test('exports the filter as CSV', async () => {
    await service.issue();
    const { status, text } = await admin.get(`${DELIVERIES}/export?state=pending`);
    assert.deepEqual([status, text.split('\r\n').length], [200, 3]);
    assert.match(text, /^message_id,endpoint_id,endpoint_url,type,license_id,state,/);
    const entry = { action: 'delivery.export', subject_id: 'webhook deliveries' };
    const recorded = { actor, ...entry, reason: null, details: { state: 'pending' } };
    assert.deepEqual((await readAudit()).at(-1), recorded);
  });

  test('422: a time that is none, in the list and in its export, which is not recorded', async () => {
    for (const path of [DELIVERIES, `${DELIVERIES}/export`]) {
      const { status, body } = await admin.get(`${path}?until=2026-13-01`);
      const expected = [['query.until', 'datetime_parsing']];
      assert.deepEqual([status, validationErrorsOf(body)], [422, expected], path);
    }
    assert.deepEqual(await readAudit(), []);
  });

  test('404: an unknown delivery, and a replay of one', async () => {
    const path = `${DELIVERIES}/msg_x/${id}`;
    assert.equal((await viewer.get(path)).status, 404);
    assert.equal((await admin.post(`${path}/replay`, { reason })).status, 404);
  });
});
