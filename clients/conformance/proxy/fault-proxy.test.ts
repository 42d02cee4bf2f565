import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';

import { eventually } from '../../../server/test/eventually.ts';
import { listenOnFreePort } from '../../../server/test/ports.ts';
import { startFaultProxy, type Fault } from './fault-proxy.ts';
import * as faults from './faults.ts';

const seen: { readonly path: string; readonly from: string; readonly body: string }[] = [];

/** Stands for the service: answers with its request. */
const service = createServer((request, response) => {
  void text(request).then((body) => {
    seen.push({
      path: request.url ?? '',
      from: String(request.headers['x-forwarded-for']),
      body,
    });
    response.setHeader('date', 'Fri, 15 Jan 2027 08:00:00 GMT');
    response.setHeader('x-request-id', '7');
    response.writeHead(409, { 'content-type': 'application/problem+json' });
    return response.end(JSON.stringify({ valid: true, echo: body }));
  });
});
const port = await listenOnFreePort(service);
after(() => service.close());

async function openProxy() {
  return startFaultProxy({ service: `http://127.0.0.1:${port}`, clientAddress: '10.0.0.9' });
}

async function post(url: string, signal?: AbortSignal): Promise<Response> {
  const body = JSON.stringify({ license_key: 'LK-1' });
  return fetch(url, { method: 'POST', body, redirect: 'manual', ...(signal ? { signal } : {}) });
}

test('passes requests on, with the address of the client, and records them', async () => {
  await using proxy = await openProxy();
  const response = await post(`${proxy.url}/api/v1/x?y=1`);
  assert.equal(response.status, 409);
  assert.equal(response.headers.get('content-type'), 'application/problem+json');
  assert.equal(response.headers.get('date'), 'Fri, 15 Jan 2027 08:00:00 GMT');
  assert.equal(response.headers.get('x-request-id'), '7');
  assert.deepEqual(await response.json(), { valid: true, echo: '{"license_key":"LK-1"}' });
  assert.deepEqual(seen.at(-1), {
    path: '/api/v1/x?y=1',
    from: '10.0.0.9',
    body: '{"license_key":"LK-1"}',
  });
  const [recorded] = proxy.requests;
  assert.equal(`${recorded?.method} ${recorded?.path}`, 'POST /api/v1/x?y=1');
  assert.equal(recorded?.body.toString(), '{"license_key":"LK-1"}');
});

test('causes faults only for matching paths, until it is repaired', async () => {
  await using proxy = await openProxy();
  proxy.breakWith(faults.answerProblem(503, 'overloaded', { 'retry-after': '5' }), /^\/busy/u);
  const busy = await post(`${proxy.url}/busy`);
  assert.equal(busy.status, 503);
  assert.equal(busy.headers.get('retry-after'), '5');
  const problem = {
    type: '/docs/errors#overloaded',
    title: 'overloaded',
    status: 503,
    code: 'overloaded',
  };
  assert.deepEqual(await busy.json(), problem);
  assert.equal((await post(`${proxy.url}/other`)).status, 409);
  await proxy.repair();
  assert.equal((await post(`${proxy.url}/busy`)).status, 409);
  assert.equal(proxy.requests.length, 3);
});

test('refuses connections, and accepts them on the same port again', async () => {
  await using proxy = await openProxy();
  await proxy.refuse();
  await assert.rejects(post(proxy.url), (error: Error) => /ECONNREFUSED/.test(String(error.cause)));
  await proxy.repair();
  assert.equal((await post(proxy.url)).status, 409);
});

test('answers with pages, redirects and changed JSON', async () => {
  await using proxy = await openProxy();
  const answer = async (fault: Fault) => {
    proxy.breakWith(fault);
    return post(proxy.url);
  };
  const page = await answer(faults.answerHtml(403));
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.match(await page.text(), /^<!doctype html>/);
  const redirected = await answer(faults.redirect(302, '/login'));
  assert.equal(redirected.status, 302);
  assert.equal(redirected.headers.get('location'), '/login');
  const edited = await answer(faults.editJson({ valid: 'true', echo: undefined }));
  assert.deepEqual(await edited.json(), { valid: 'true' });
  const cut = await answer(faults.cutJson);
  assert.match(await cut.text(), /^\{"valid":true,"echo":"\{\\"$/);
});

test('replaces and removes the date', async () => {
  await using proxy = await openProxy();
  proxy.breakWith(faults.withDate('yesterday'));
  assert.equal((await post(proxy.url)).headers.get('date'), 'yesterday');
  proxy.breakWith(faults.withDate(null));
  assert.equal((await post(proxy.url)).headers.get('date'), null);
});

test('breaks connections before, inside and instead of an answer', async () => {
  await using proxy = await openProxy();
  proxy.breakWith(faults.closeConnection);
  await assert.rejects(post(proxy.url));
  const before = seen.length;
  proxy.breakWith(faults.loseAnswer);
  await assert.rejects(post(proxy.url));
  assert.equal(seen.length, before + 1);
  proxy.breakWith(faults.cutBody);
  const cut = await post(proxy.url);
  assert.equal(cut.status, 409);
  await assert.rejects(cut.text());
});

test('leaves requests without an answer, or with one that never ends', async () => {
  await using proxy = await openProxy();
  const client = new AbortController();
  proxy.breakWith(faults.hang);
  const unanswered = assert.rejects(post(proxy.url, client.signal), { name: 'AbortError' });
  await eventually(() => proxy.requests.length === 1);
  client.abort();
  await unanswered;
  proxy.breakWith(faults.trickle);
  const response = await post(proxy.url);
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let received = '';
  while (received.length < 3) received += decoder.decode((await reader?.read())?.value);
  assert.match(received, /^\{"v/);
  assert.ok(received.length < 20);
  await reader?.cancel();
});
