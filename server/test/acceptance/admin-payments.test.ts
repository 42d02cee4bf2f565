import assert from 'node:assert/strict';
import { before, beforeEach, describe, test } from 'node:test';

import type { LoggedEvent } from '#server/features/billing/providers/paddle/paddle-api.ts';
import { ProviderApiError } from '#server/features/billing/providers/provider-api.ts';

import { emptyAuditLog } from '../audit-log.ts';
import { startTestService } from '../harness.ts';
import { openBrowser } from '../operator-steps.ts';
import { paddleCustomer, paddleTransactionCompleted } from '../payment-providers/paddle-events.ts';
import { createPaddlePurchase, deliverPaddle } from '../payment-providers/paddle-steps.ts';
import { CATALOG, TEST_PRICES, testCatalog } from '../test-catalog.ts';
import { HOUR_MS, SECOND_MS } from '../test-clock.ts';
import { problem, readBody, validationErrorsOf } from './bodies.ts';

const PATH = '/api/v1/admin/payment-events';
const HOSTILE = `<script>alert(1)</script>\u202E${'x'.repeat(10_000)}`;
const reason = 'the provider repaired it';

let eventLog: readonly LoggedEvent[] | ProviderApiError = [];
const paddleApi = {
  findCustomer: async () => null,
  listEvents: async (after: string | null) => {
    if (eventLog instanceof ProviderApiError) throw eventLog;
    return eventLog.some(({ eventId }) => eventId === after) ? [] : eventLog;
  },
};

const service = await startTestService({ paddleApi });
const { pool, clock } = service;
const admin = await openBrowser(service);
const viewer = await openBrowser(service, 'viewer');
const support = await openBrowser(service, 'support');

const ada = createPaddlePurchase();
const customer = paddleCustomer('created', { ...ada, email: 'Ada@Example.com', name: 'Ada' });
const paid = paddleTransactionCompleted(ada.monthly);
const eve = createPaddlePurchase('pri_unknown');
const unmatched = paddleTransactionCompleted(eve.once);
const renewal = paddleTransactionCompleted({ ...ada.monthly, transactionId: 'txn_renewal' });
const broken = { ...renewal, data: { ...renewal.data, items: HOSTILE } };

before(async () => {
  for (const event of [customer, paid, unmatched, broken]) {
    await deliverPaddle(service, event);
    clock.advance(SECOND_MS);
  }
});

beforeEach(() => emptyAuditLog(pool));

type Fields = Readonly<Record<string, unknown>>;

function readItems(body: unknown, field = 'items'): Fields[] {
  const items = readBody(body)[field];
  assert.ok(Array.isArray(items));
  return items.map(readBody);
}

const pathOf = ({ event_id: id }: { readonly event_id: string }) => `${PATH}/paddle/${id}`;

async function listIds(query: string): Promise<unknown[]> {
  const answer = await viewer.get(`${PATH}?${query}`);
  assert.equal(answer.status, 200, answer.text);
  return readItems(answer.body).map((item) => item['event_id']);
}

const search = (text: string) => listIds(`search=${encodeURIComponent(text)}`);

async function show(event: { readonly event_id: string }): Promise<Fields> {
  const answer = await viewer.get(pathOf(event));
  assert.equal(answer.status, 200, answer.text);
  return readBody(answer.body);
}

async function readAudit(): Promise<unknown[]> {
  const { rows } = await pool.query(
    'select actor, action, subject_id, reason, details from audit_log order by sequence',
  );
  return rows;
}

const actor = `operator:${admin.email}`;

describe('list', () => {
  test('lists events, newest first, with their state', async () => {
    const { body } = await viewer.get(`${PATH}?limit=2`);
    const [first, second] = readItems(body);
    assert.deepEqual(
      [first?.['event_id'], first?.['state'], second?.['event_id'], second?.['state']],
      [broken.event_id, 'failed', unmatched.event_id, 'unmatched'],
    );
    const cursor = encodeURIComponent(String(readBody(body)['next_cursor']));
    assert.deepEqual(await listIds(`limit=2&cursor=${cursor}`), [paid.event_id, customer.event_id]);
  });

  test('filters by state, provider, type, time and license', async () => {
    assert.deepEqual(await listIds('state=failed'), [broken.event_id]);
    assert.deepEqual(await listIds('state=unmatched'), [unmatched.event_id]);
    assert.deepEqual(await listIds('state=applied'), [paid.event_id, customer.event_id]);
    for (const none of ['state=dismissed', 'state=ignored', 'state=deferred', 'provider=stripe']) {
      assert.deepEqual(await listIds(none), [], none);
    }
    assert.deepEqual(await listIds('type=customer.created'), [customer.event_id]);
    const since = encodeURIComponent(new Date(clock.now().getTime() - 1_500).toISOString());
    assert.deepEqual(await listIds(`since=${since}`), [broken.event_id]);
    assert.equal((await listIds(`until=${since}`)).length, 3);
    assert.equal((await listIds('since=2027-03-01&until=2027-03-02')).length, 4);
    const [license] = readItems(await show(paid), 'licenses');
    const ofLicense = await listIds(`license_id=${String(license?.['license_id'])}`);
    assert.deepEqual(ofLicense, [paid.event_id]);
  });

  test('finds events by id, transaction, subscription, customer, address, and failed ones by their payload', async () => {
    assert.deepEqual(await search(paid.event_id), [paid.event_id]);
    assert.deepEqual(await search(` ${ada.transactionId} `), [paid.event_id]);
    for (const text of [ada.subscriptionId, ada.customerId]) {
      assert.deepEqual(await search(text), [broken.event_id, paid.event_id]);
    }
    assert.deepEqual(await search('ada@example.COM'), [paid.event_id]);
    assert.deepEqual(await search('TXN_renewal'), [broken.event_id]);
    for (const none of ['nobody@example.com', 'evt', `'; drop table billing_events; --`, '%']) {
      assert.deepEqual(await search(none), [], none);
    }
  });

  test('exports the filter as CSV, once a fresh proof is there, with an audit entry', async () => {
    const answer = await support.get(`${PATH}/export?state=failed`);
    assert.equal(answer.status, 200, answer.text);
    const [head, line, end] = answer.text.split('\r\n');
    assert.equal(
      head,
      'provider,event_id,type,state,kind,products_product_id,products_price_id,amount_text,currency,country,reported,message,attempts,occurred_at,received_at,next_attempt_at',
    );
    assert.ok(
      line?.startsWith(`paddle,${broken.event_id},transaction.completed,failed,,,,,,,,The data`),
    );
    assert.equal(end, '');
    const details = { state: 'failed' };
    const entry = { action: 'webhook.export', subject_id: 'payment events', reason: null, details };
    assert.deepEqual(await readAudit(), [{ actor: `operator:${support.email}`, ...entry }]);
  });

  test('an export names what was sold, and neither names nor addresses of customers', async () => {
    const { text } = await support.get(`${PATH}/export?state=applied`);
    const line = text.split('\r\n').find((each) => each.includes(paid.event_id)) ?? '';
    assert.match(line, /,applied,purchase,personal,pri_\w+,29\.00,USD,/);
    assert.doesNotMatch(text, /@|Ada/);
  });

  test('422: rejects an unknown state, a cursor of another list and a limit of 0', async () => {
    for (const [query, place] of [
      ['state=gone', 'query.state'],
      ['cursor=x', 'query.cursor'],
      ['limit=0', 'query.limit'],
      ['since=yesterday', 'query.since'],
      ['colour=red', 'query.colour'],
    ] as const) {
      const { status, body } = await viewer.get(`${PATH}?${query}`);
      assert.deepEqual([status, validationErrorsOf(body)[0]?.[0]], [422, place]);
    }
  });
});

test('summarizes what needs an operator, the providers and the types', async () => {
  const { status, body } = await viewer.get(`${PATH}/summary`);
  const { providers, ...summary } = readBody(body);
  assert.deepEqual(
    [status, summary],
    [
      200,
      {
        failed: 1,
        deferred: 0,
        unmatched: 1,
        types: ['customer.created', 'transaction.completed'],
        reconciliation: { configured: true, reconciled_at: null, failed_at: null, failure: null },
      },
    ],
  );
  assert.deepEqual(readItems({ providers }, 'providers')[1], {
    provider: 'stripe',
    configured: true,
    last_received_at: null,
  });
});

describe('show', () => {
  test('shows what an applied event did, and its license', async () => {
    const { effects, licenses, summary, advice, has_payload: hasPayload } = await show(paid);
    assert.deepEqual([summary, advice, hasPayload], ['The event is applied.', null, true]);
    assert.deepEqual(effects, [
      { kind: 'payment', id: ada.transactionId, text: `Purchase of ${ada.subscriptionId}` },
    ]);
    const [license] = readItems({ licenses }, 'licenses');
    const { license_id: id, key_hint: hint, ...shown } = license ?? {};
    assert.match(`${String(id)} ${String(hint)}`, /^[0-9a-f-]{36} \S+$/);
    assert.deepEqual(shown, {
      product: 'personal',
      status: 'active',
      customer_email: 'Ada@example.com',
    });
  });

  test('explains a failed event with its license, and a payment without a product', async () => {
    const failed = await show(broken);
    assert.deepEqual(
      [failed['summary'], readItems(failed, 'licenses')[0]?.['customer_email'], failed['attempts']],
      [
        'The event does not have the form of its type: The data of transaction.completed are wrong at data.items.',
        'Ada@example.com',
        1,
      ],
    );
    assert.match(String(failed['advice']), /replay the event/);
    const lost = await show(unmatched);
    assert.equal(
      lost['summary'],
      'A customer paid and has no license: No product of the catalogue has the price pri_unknown.',
    );
  });

  test('404: an unknown event, and a known one of another provider', async () => {
    for (const path of [`${PATH}/paddle/evt_x`, `${PATH}/stripe/${paid.event_id}`]) {
      const { status, body } = await viewer.get(path);
      assert.deepEqual([status, body], [404, problem('not_found')]);
    }
  });

  test('reveals a payload as it was sent, with an audit entry', async () => {
    const answer = await support.post(`${pathOf(broken)}/reveal`);
    assert.equal(answer.status, 200, answer.text);
    const { payload, headers } = readBody(answer.body);
    assert.deepEqual(JSON.parse(String(payload)), broken);
    assert.deepEqual(headers, {});
    assert.deepEqual(await readAudit(), [
      {
        actor: `operator:${support.email}`,
        action: 'webhook.reveal',
        subject_id: broken.event_id,
        reason: null,
        details: { provider: 'paddle' },
      },
    ]);
  });
});

describe('replay and dismiss', () => {
  test('replays one event, which fails again, and counts the attempt', async () => {
    const answer = await admin.post(`${pathOf(broken)}/replay`, { reason });
    const [outcome] = readItems(answer.body, 'outcomes');
    assert.deepEqual([answer.status, outcome?.['state']], [200, 'failed']);
    assert.equal((await show(broken))['attempts'], 2);
    const details = { replayed: 1, status: null, provider: 'paddle' };
    const entry = { action: 'webhook.replay', subject_id: broken.event_id, reason, details };
    assert.deepEqual(await readAudit(), [{ actor, ...entry }]);
  });

  test('replays a payment once the catalogue has its price, so that the buyer gets a license', async () => {
    const catalog = CATALOG.replace(TEST_PRICES.personal, `${TEST_PRICES.personal}, pri_unknown`);
    service.useCatalog(testCatalog(catalog));
    const answer = await admin.post(`${PATH}/replay`, { state: 'unmatched', reason });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(
      readItems(answer.body, 'outcomes').map(({ event_id: id, state }) => [id, state]),
      [[unmatched.event_id, 'applied']],
    );
    assert.equal(readBody(answer.body)['next_cursor'], null);
    assert.equal(readItems(await show(unmatched), 'licenses').length, 1);
    service.useCatalog(testCatalog());
  });

  test('replays many in parts of 50, and continues at the cursor', async () => {
    await pool.query(
      `insert into billing_events (event_id, provider, type, occurred_at, received_at, raw, headers, status, message)
       select 'evt_many' || n, 'standard', 'x', now(), date_trunc('second', now()) + n * interval '1 second', '[]', '{}', 'failed', 'x'
       from generate_series(1, 60) as n`,
    );
    const body = { state: 'failed', provider: 'standard', reason };
    const first = await admin.post(`${PATH}/replay`, body);
    assert.equal(readItems(first.body, 'outcomes').length, 50);
    const { next_cursor: cursor } = readBody(first.body);
    const second = await admin.post(`${PATH}/replay`, { ...body, cursor });
    assert.deepEqual(
      [readItems(second.body, 'outcomes').length, readBody(second.body)['next_cursor']],
      [10, null],
    );
    const dismissed = await admin.post(`${PATH}/dismiss`, body);
    assert.deepEqual([dismissed.status, dismissed.body], [200, { dismissed: 60 }]);
    assert.equal((await listIds('state=dismissed&limit=200')).length, 60);
    for (const wrong of ['x', Buffer.from('{}').toString('base64url')]) {
      const answer = await admin.post(`${PATH}/replay`, { ...body, cursor: wrong });
      assert.deepEqual(validationErrorsOf(answer.body), [['body.cursor', 'cursor_invalid']]);
    }
  });

  test('dismisses one event; a second operator gets a conflict with the current state', async () => {
    const answer = await admin.post(`${pathOf(broken)}/dismiss`, { reason: 'a test' });
    assert.deepEqual([answer.status, answer.body], [200, { dismissed: 1 }]);
    const shown = await show(broken);
    assert.deepEqual(
      [shown['state'], shown['summary']],
      ['dismissed', 'An operator dismissed the event: a test.'],
    );
    const details = { dismissed: 1, status: null, provider: 'paddle' };
    const entry = { action: 'webhook.dismiss', subject_id: broken.event_id, details };
    assert.deepEqual(await readAudit(), [{ actor, reason: 'a test', ...entry }]);
    const again = await admin.post(`${pathOf(broken)}/dismiss`, { reason });
    assert.deepEqual([again.status, again.body], [409, problem('conflict', { current: shown })]);
  });

  test('404 and 422: an unknown event, and a reason that is missing', async () => {
    for (const verb of ['replay', 'dismiss', 'reveal']) {
      const { status } = await admin.post(`${PATH}/paddle/evt_x/${verb}`, { reason });
      assert.equal(status, 404, verb);
    }
    const { body } = await admin.post(`${pathOf(paid)}/replay`, { reason: '' });
    assert.equal(validationErrorsOf(body)[0]?.[0], 'body.reason');
  });
});

describe('reconcile', () => {
  test('applies the missing events of the provider, with an audit entry', async () => {
    const missed = paddleTransactionCompleted({
      ...createPaddlePurchase().once,
      eventId: 'evt_missed',
      occurredAt: new Date(clock.now().getTime() - 2 * HOUR_MS),
    });
    const occurredAt = new Date(clock.now().getTime() - 2 * HOUR_MS);
    eventLog = [{ eventId: 'evt_missed', type: missed.event_type, occurredAt, body: missed }];
    const since = new Date(clock.now().getTime() - 3 * HOUR_MS).toISOString();
    const answer = await admin.post(`${PATH}/reconcile`, { since });
    assert.equal(answer.status, 200, answer.text);
    const repaired = {
      provider: 'paddle',
      event_id: 'evt_missed',
      type: 'transaction.completed',
      state: 'applied',
      message: null,
    };
    assert.deepEqual(answer.body, {
      compared: 1,
      repaired: [repaired],
      reached_end: true,
      failure: null,
    });
    assert.equal((await show(missed))['state'], 'applied');
    const entry = { action: 'webhook.reconcile', subject_id: 'paddle', reason: null };
    assert.deepEqual(await readAudit(), [{ actor, ...entry, details: { repaired: 1 } }]);
  });

  test('says why the provider cannot be read', async () => {
    eventLog = new ProviderApiError('Paddle answers 403');
    const { status, body } = await admin.post(`${PATH}/reconcile`, {});
    assert.deepEqual(
      [status, body],
      [
        200,
        {
          compared: 0,
          repaired: [],
          reached_end: false,
          failure:
            "Cannot read Paddle's event log: Paddle answers 403. Events that were applied stay applied.",
        },
      ],
    );
  });
});
