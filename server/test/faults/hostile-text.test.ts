/**
 * No request holds the event loop: beside the longest admissible texts of the worst shapes, `/health/live` answers within 100 ms. What
 * one request may delay it by is the processor time of the service's thread, which does not depend on the load of the machine.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';

import { TEST_ISSUER, TEST_WEBHOOK_SECRETS } from '../harness.ts';
import {
  createHeaderRequests,
  createRequest,
  operations,
  replaceTexts,
  type HostileRequest,
} from '../hostile-requests.ts';
import { repeatTo, SHAPES, type Shape } from '../hostile-texts.ts';
import { anyAddress } from '../http-client.ts';
import { fastSpringDelivery, fastSpringOrder } from '../payment-providers/fastspring-events.ts';
import { creemCheckout, creemDelivery } from '../payment-providers/creem-events.ts';
import { dodoPayment } from '../payment-providers/dodo-events.ts';
import {
  lemonSqueezyDelivery,
  lemonSqueezyOrder,
} from '../payment-providers/lemon-squeezy-events.ts';
import {
  paddleCustomer,
  paddleDelivery,
  paddleTransactionCompleted,
} from '../payment-providers/paddle-events.ts';
import { polarDelivery, polarOrder } from '../payment-providers/polar-events.ts';
import {
  standardDelivery,
  standardPurchase,
} from '../payment-providers/standard-webhooks-events.ts';
import { stripeCheckoutCompleted, stripeDelivery } from '../payment-providers/stripe-events.ts';
import { startServiceThread } from '../service-thread.ts';
import { TEST_START } from '../test-clock.ts';

/** In processor time of the thread. */
const MAX_HOLD_MS = 100;

/** The service is lost when it answers nothing for so long. */
const TIMEOUT_MS = 30_000;

/** What compiles code or collects garbage is no hold of the request. */
const ATTEMPTS = 3;

/** Requests that usually take 100 ms together at most. */
const GROUP_SIZE = 16;

const service = await startServiceThread();
after(() => service[Symbol.asyncDispose]());

const BLANKS: Shape = { start: '', unit: ' ' };

let sessions = 0;

async function send({ name, method, path, headers = {}, body }: HostileRequest): Promise<void> {
  const cookie = service.cookies[sessions++ % service.cookies.length] ?? '';
  const access = path.startsWith('/api/v1/admin/session')
    ? { cookie, origin: TEST_ISSUER }
    : { 'x-api-key': service.apiKey };
  try {
    const response = await fetch(service.url + path, {
      method,
      redirect: 'manual',
      headers: { 'x-forwarded-for': anyAddress(), ...access, ...headers },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    assert.notEqual(response.status, 500, `${name}: ${text}`);
  } catch (error) {
    if (body !== undefined && isClosedWhileSending(error)) return;
    if (error instanceof Error && error.name === 'TimeoutError') {
      throw new Error(`no answer in ${TIMEOUT_MS} ms to ${name}`, { cause: error });
    }
    throw error;
  }
}

/** A body that is too large is refused before all of it was sent; `fetch` then reports the closed connection, not the response. */
function isClosedWhileSending(error: unknown): boolean {
  const cause = error instanceof TypeError ? error.cause : null;
  const code = cause instanceof Error && 'code' in cause ? cause.code : null;
  return code === 'EPIPE' || code === 'ECONNRESET';
}

/** Sends requests at once, and returns the processor time that they take together, in milliseconds. */
async function measure(requests: readonly HostileRequest[]): Promise<number> {
  const before = await service.readProcessorMs();
  await Promise.all(requests.map(send));
  return (await service.readProcessorMs()) - before;
}

/** Lists the requests of which each attempt takes too long. A group that takes no longer together contains none. */
async function listHolds(requests: readonly HostileRequest[]): Promise<string[]> {
  const holds: string[] = [];
  for (let start = 0; start < requests.length; start += GROUP_SIZE) {
    const group = requests.slice(start, start + GROUP_SIZE);
    const isHeld = (await measure(group)) > MAX_HOLD_MS;
    for (const request of isHeld ? group : []) {
      let ms = Infinity;
      for (let attempt = 0; attempt < ATTEMPTS && ms > MAX_HOLD_MS; attempt += 1) {
        ms = Math.min(ms, await measure([request]));
      }
      if (ms > MAX_HOLD_MS) holds.push(`${request.name}: ${Math.round(ms)} ms`);
    }
  }
  return holds;
}

describe('no request holds the event loop for 100 ms', () => {
  test('with long texts in every field and parameter of every operation', async () => {
    assert.ok(operations.length > 200, 'the operations were not found');
    const requests = operations.flatMap((operation) => [
      ...SHAPES.map((shape) => createRequest(operation, shape, false)),
      createRequest(operation, BLANKS, true),
    ]);
    assert.deepEqual(await listHolds(requests), []);
  });

  test('with long headers', async () => {
    const console = await (await fetch(`${service.url}/console`)).text();
    const [asset = ''] = /\/console\/assets\/[^"]+/u.exec(console) ?? [];
    assert.notEqual(asset, '', 'the console names no asset');
    const requests = [asset, '/my', '/api/v1/admin/audit'].flatMap((path) =>
      SHAPES.flatMap((shape) => createHeaderRequests(path, shape)),
    );
    assert.deepEqual(await listHolds(requests), []);
  });

  test('with long texts in the forms of buyers', async () => {
    const requests = SHAPES.flatMap((shape) => createForms(repeatTo(shape, 60_000), shape));
    assert.deepEqual(await listHolds(requests), []);
  });

  test('with long texts in the fields of programs of other systems', async () => {
    const [path = ''] = COMPATIBLE_PATHS;
    const offered = await fetch(service.url + path, { method: 'POST' });
    assert.notEqual(offered.status, 404, 'no product offers the interface');
    const requests = SHAPES.flatMap((shape) => COMPATIBLE_PATHS.flatMap(createPrograms(shape)));
    assert.deepEqual(await listHolds(requests), []);
  });

  test('with long texts in every member of signed payment events', async () => {
    const requests = SHAPES.flatMap((shape) => createPaymentEvents(repeatTo(shape, 20_000), shape));
    assert.deepEqual(await listHolds(requests), []);
  });
});

/** As a part of the whole: a request between two parts waits for one of them. */
const MAX_PART = 1 / 2;

test('other requests are served during the import of the longest file', async () => {
  const rows = Array.from(
    { length: 23_000 },
    (_, index) => `LK-AAAAA-AAAAA-AAAAA-AAAAA-${10_000 + index},personal`,
  );
  const csv = ['license_key,product', ...rows].join('\n');
  const body = JSON.stringify({ csv, dry_run: true, reason: 'a test' });
  const headers = { 'content-type': 'application/json' };
  const readings = [await service.readProcessorMs()];
  const path = '/api/v1/admin/licenses/import';
  const importing = send({ name: 'an import', method: 'POST', path, headers, body });
  const state = { isDone: false };
  const stop = (): void => void (state.isDone = true);
  importing.then(stop, stop);
  while (!state.isDone) readings.push(await service.readProcessorMs());
  await importing;
  const parts = readings.slice(1).map((reading, index) => reading - (readings[index] ?? 0));
  const total = parts.reduce((sum, part) => sum + part, 0);
  const longest = Math.max(...parts);
  assert.ok(longest < MAX_PART * total, `${Math.round(longest)} of ${Math.round(total)} ms`);
});

const FORM_PATHS = ['/my/key', '/my/email', '/my/code'];

function createForms(text: string, shape: Shape): HostileRequest[] {
  const headers = { 'sec-fetch-site': 'same-origin', 'accept-language': 'de' };
  const fields = { key: text, email: text, code: text, name: text };
  return FORM_PATHS.flatMap((path) => {
    const upload = new FormData();
    for (const [name, value] of Object.entries(fields)) upload.append(name, value.slice(0, 15_000));
    const name = `POST ${path} with ${JSON.stringify(shape)}`;
    const urlEncoded = new URLSearchParams({ [path.slice('/my/'.length)]: text }).toString();
    return [
      {
        name,
        method: 'POST',
        path,
        headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
        body: urlEncoded.slice(0, 65_000),
      },
      { name: `${name} in parts`, method: 'POST', path, headers, body: upload },
    ];
  });
}

const COMPATIBLE_PATHS = [
  '/v1/licenses/activate',
  '/v1/licenses/validate',
  '/v1/licenses/deactivate',
  '/v2/licenses/verify',
];

/** Texts in the values and names of each form in which programs send fields, beside a key that exists. */
function createPrograms(shape: Shape): (path: string) => HostileRequest[] {
  return (path) => {
    const known = { license_key: service.licenseKey, product_id: 'shop' };
    const text = repeatTo(shape, 500);
    const long = repeatTo(shape, 50_000);
    const fields = { ...known, instance_name: text, instance_id: text, [text]: text, long };
    const parts = new FormData();
    for (const [name, value] of Object.entries(fields)) parts.append(name, value);
    const query = new URLSearchParams({ ...known, instance_name: repeatTo(shape, 2_000) });
    const types = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];
    const bodies: Omit<HostileRequest, 'name' | 'method'>[] = [
      { path, body: JSON.stringify(fields), headers: { 'content-type': 'application/json' } },
      { path, body: JSON.stringify({ ...known, license_key: long }) },
      { path, body: new URLSearchParams(fields).toString().slice(0, 65_000) },
      { path, body: parts },
      { path: `${path}?${query.toString()}` },
      ...types.map((type) => ({ path, body: long, headers: { 'content-type': type } })),
    ];
    return bodies.map((request) => {
      const { body, headers } = request;
      const urlEncoded = { 'content-type': 'application/x-www-form-urlencoded' };
      return {
        ...request,
        method: 'POST',
        name: `POST ${path} with ${JSON.stringify(shape)}`,
        ...(typeof body === 'string' ? { headers: headers ?? urlEncoded } : {}),
      };
    });
  };
}

/** Members by which an event is recognized. */
const KEPT = /^(?:event_type|event_name|type|object|occurred_at|timestamp|event_id)$/u;

function createPaymentEvents(text: string, shape: Shape): HostileRequest[] {
  const at = TEST_START;
  const {
    paddle: paddleSecrets,
    stripe,
    lemonsqueezy,
    fastspring,
    gumroad,
    standard,
  } = TEST_WEBHOOK_SECRETS;
  const [polarSecret = ''] = TEST_WEBHOOK_SECRETS.polar;
  const [dodoSecret = ''] = TEST_WEBHOOK_SECRETS.dodo;
  const [creemSecret = ''] = TEST_WEBHOOK_SECRETS.creem;
  const id = crypto.randomUUID();
  const creem = creemCheckout();
  const fillIn = (event: unknown) => replaceTexts(event, text, KEPT);
  const paddle = [paddleCustomer('created'), paddleTransactionCompleted({})].map((event) =>
    paddleDelivery(fillIn(event), { secret: paddleSecrets[0] ?? '', at }),
  );
  return [
    ...paddle.map((delivery) => ({ path: '/api/v1/webhooks/billing', ...delivery })),
    {
      path: '/api/v1/webhooks/stripe',
      ...stripeDelivery(fillIn(stripeCheckoutCompleted()), { secret: stripe[0] ?? '', at }),
    },
    {
      path: '/api/v1/webhooks/lemonsqueezy',
      ...lemonSqueezyDelivery(fillIn(lemonSqueezyOrder('order_created')), {
        secret: lemonsqueezy[0] ?? '',
      }),
    },
    {
      path: '/api/v1/webhooks/fastspring',
      ...fastSpringDelivery([fillIn(fastSpringOrder())], { secret: fastspring[0] ?? '' }),
    },
    {
      path: '/api/v1/webhooks/polar',
      ...polarDelivery(fillIn(polarOrder('order.paid')), { secret: polarSecret, at, id }),
    },
    {
      path: '/api/v1/webhooks/dodo',
      ...standardDelivery(fillIn(dodoPayment('payment.succeeded')), { secret: dodoSecret, at, id }),
    },
    {
      path: '/api/v1/webhooks/creem',
      ...creemDelivery({ ...creem, object: fillIn(creem.object) }, { secret: creemSecret }),
    },
    {
      path: `/api/v1/webhooks/gumroad/${encodeURIComponent(gumroad[0] ?? '')}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ resource_name: 'sale', sale_id: text, email: text }).toString(),
    },
    {
      path: '/api/v1/webhooks/standard',
      ...standardDelivery(fillIn(standardPurchase('t', ['p'])), {
        secret: standard[0] ?? '',
        at,
        id: crypto.randomUUID(),
      }),
    },
  ].map((request) => ({
    ...request,
    method: 'POST',
    name: `POST ${request.path} with ${JSON.stringify(shape)}`,
  }));
}
