/** 10,000 faults of the network: nothing is thrown, no state changes, nobody is locked out. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { activated, KEY, openClient, validated } from './open-client.ts';
import { connectionRefused, json, page, problem, type Script } from './scripted-service.ts';
import { createSigner, signToken } from './signer.ts';

const FAULTS = 10_000;

const foreign = createSigner();

/** Breaks an answer in the middle of its body. */
function cutOff(): Response {
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode('{"valid":'));
      controller.error(new TypeError('terminated'));
    },
  });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
}

function failWith(code: string): Error {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
}

const SCRIPTS: readonly Script[] = [
  () => connectionRefused(),
  () => failWith('ENOTFOUND'),
  () => failWith('ETIMEDOUT'),
  () => failWith('SELF_SIGNED_CERT_IN_CHAIN'),
  () => failWith('UND_ERR_SOCKET'),
  () => Promise.reject(Object.assign(Object.create(null), { odd: 'error' })),
  () => page(),
  () => page(403),
  () => page(404),
  () => page(502),
  () => cutOff(),
  () => new Response(''),
  () => new Response(null, { status: 204 }),
  () => new Response(null, { status: 302, headers: { location: 'http://login.example' } }),
  () => new Response('{"valid":true,"entitlem'),
  () => new Response('[{}]'),
  () => new Response('null'),
  () => new Response('\uFEFF{"valid":false,"reason":1}'),
  () => json({ valid: true }),
  () => json({ valid: true, entitlement: 'a.b.c' }),
  () => json({ valid: true, entitlement: signToken({}, { signer: foreign }) }),
  () => json({ valid: true, entitlement: signToken({ aud: 'other' }) }),
  () => json({ valid: true, entitlement: signToken({ exp: 1 }) }),
  () => json({ valid: false, reason: null }),
  () => json({ error: 'blocked by policy' }, 403),
  () => json({ code: 'blocked', status: 200 }, 403),
  () => problem(429, 'rate_limited'),
  () => problem(500, 'internal_error'),
  () => problem(503, 'overloaded'),
];

const rejections: unknown[] = [];
const note = (reason: unknown): void => void rejections.push(reason);
process.on('unhandledRejection', note);
after(() => process.off('unhandledRejection', note));

test('10,000 faults change no state', async () => {
  const { client, service, problems } = await openClient();
  service.answer(() => activated());
  await client.activate(KEY);
  await client.setSharing(true);
  client.track('opened');
  const before = { ...client.state, source: 'kept' };
  const calls = [
    () => client.check('scheduled'),
    () => client.activate(KEY),
    () => client.machines(),
    () => client.moveHere('any'),
    () => client.flush(),
  ];
  let asked = 0;
  for (let fault = 0; fault < FAULTS; fault += 1) {
    service.answer(SCRIPTS[fault % SCRIPTS.length] ?? connectionRefused);
    const result = await calls[fault % calls.length]?.();
    assert.ok(result?.ok === false && result.code === 'no_answer', JSON.stringify(result));
    asked += 1;
  }
  assert.deepEqual([asked, client.state], [FAULTS, before]);
  service.answer(({ path }) =>
    path.endsWith('/events') ? json({ accepted: 1, dropped: 0 }) : validated(),
  );
  assert.deepEqual(await client.check(), { ok: true });
  assert.deepEqual(await client.flush(), { ok: true, sent: 1, rejected: 0 });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([problems, rejections], [[], []]);
});
