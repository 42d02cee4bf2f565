import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { diagnoseGap } from './diagnose-gap.ts';
import { FakeNetwork } from './fake-network.fixture.ts';

const ADDRESS = 'db-1.example.com:4096';

function answerWith(status: number, text = '') {
  return async () => ({ status, text: async () => `${text}\n` });
}

async function answerNothing(): Promise<never> {
  return Promise.withResolvers<never>().promise;
}

/** Diagnoses with a network, and returns the diagnosis and the modes of the requests. */
async function diagnose(
  network: FakeNetwork,
  address = ADDRESS,
  access: 'denied' | 'prompt' | null = null,
) {
  const options = network.createOptions([], { queryPrivateAccess: async () => access });
  const found = diagnoseGap(options, address, null);
  await network.advance(0);
  return { found: await found, modes: network.requests.map(({ init }) => init.mode) };
}

/** Diagnoses where nothing answers. */
async function nameFailureOf(address: string, access: 'denied' | 'prompt' | null) {
  const { found } = await diagnose(failingNetwork(false), address, access);
  return found;
}

/** Whether nothing, or the request without CORS, is answered. */
function failingNetwork(isAnswering: boolean): FakeNetwork {
  const network = new FakeNetwork();
  network.answer = async (mode) => {
    if (isAnswering && mode === 'no-cors') return { status: 0, text: async () => '' };
    throw new TypeError('Failed to fetch');
  };
  return network;
}

describe('the first request, which the agent answers as it answers the WebSocket', () => {
  const cases = [
    [401, 'The access token is not known.', 'token'],
    [403, 'A client certificate is needed.', 'certificate_required'],
    [429, 'Too many requests.', 'refused'],
  ] as const;
  for (const [status, detail, reason] of cases) {
    test(`${status}: ${reason}, with the agent's sentence`, async () => {
      const network = new FakeNetwork();
      network.answer = answerWith(status, detail);
      assert.deepEqual(await diagnose(network), { found: { reason, detail }, modes: ['cors'] });
    });
  }

  test('502, as of a proxy: unreachable', async () => {
    const network = new FakeNetwork();
    network.answer = answerWith(502, '<html>Bad Gateway</html>');
    assert.deepEqual(await diagnose(network), {
      found: { reason: 'unreachable' },
      modes: ['cors'],
    });
  });

  test('200: the agent would admit this page', async () => {
    const network = new FakeNetwork();
    network.answer = answerWith(200, 'OK');
    assert.deepEqual(await diagnose(network), { found: null, modes: ['cors'] });
  });

  test('carries the token and the certificate, and follows no redirect', async () => {
    const network = new FakeNetwork();
    network.answer = answerWith(200, 'OK');
    await diagnoseGap(network.createOptions([]), ADDRESS, 'a-token');
    const [{ url, init } = assert.fail()] = network.requests;
    const { mode, credentials, cache, redirect, headers } = init;
    assert.equal(url, 'https://db-1.example.com:4096/?admission');
    assert.deepEqual(
      { mode, credentials, cache, redirect, headers },
      {
        mode: 'cors',
        credentials: 'include',
        cache: 'no-store',
        redirect: 'error',
        headers: { Authorization: 'Bearer a-token' },
      },
    );
    assert.equal(network.timers, 0);
  });
});

describe('the second request, without CORS', () => {
  test('is answered: the origin is not allowed', async () => {
    assert.deepEqual(await diagnose(failingNetwork(true)), {
      found: { reason: 'origin' },
      modes: ['cors', 'no-cors'],
    });
  });

  test('carries no token', async () => {
    const network = failingNetwork(true);
    await diagnoseGap(network.createOptions([]), ADDRESS, 'a-token');
    assert.deepEqual(network.requests[1]?.init.headers, {});
  });

  test('fails, too: unreachable', async () => {
    assert.deepEqual(await diagnose(failingNetwork(false)), {
      found: { reason: 'unreachable' },
      modes: ['cors', 'no-cors'],
    });
  });

  test('fails for a private address without permission: the browser forbids it', async () => {
    const unreachable = { reason: 'unreachable' };
    assert.deepEqual(await nameFailureOf('192.168.1.7:4096', 'denied'), {
      reason: 'private_address',
    });
    assert.deepEqual(await nameFailureOf('192.168.1.7:4096', 'prompt'), unreachable);
    assert.deepEqual(await nameFailureOf('192.168.1.7:4096', null), unreachable);
    assert.deepEqual(await nameFailureOf('192.0.2.7:4096', 'denied'), unreachable);
  });

  test('fails for a name without permission: the sentence names what it may be', async () => {
    assert.deepEqual(await nameFailureOf(ADDRESS, 'denied'), {
      reason: 'unreachable',
      detail:
        'if its address is private, this browser forbids it to this page; else it is off, or its certificate is not trusted.',
    });
    assert.deepEqual(await nameFailureOf(ADDRESS, 'prompt'), { reason: 'unreachable' });
  });
});

test('ends after 2 s without an answer, and aborts the request', async () => {
  const network = new FakeNetwork();
  network.answer = answerNothing;
  const found = diagnoseGap(network.createOptions([]), ADDRESS, null);
  await network.advance(1999);
  const [{ init } = assert.fail()] = network.requests;
  assert.equal(init.signal.aborted, false);
  await network.advance(1);
  assert.deepEqual(await found, { reason: 'no_answer' });
  assert.equal(init.signal.aborted, true);
  assert.equal(network.requests.length, 1);
});

test('ends after 2 s with an answer that never ends', async () => {
  const network = new FakeNetwork();
  network.answer = async () => ({ status: 200, text: answerNothing });
  const found = diagnoseGap(network.createOptions([]), ADDRESS, null);
  await network.advance(2000);
  assert.deepEqual(await found, { reason: 'no_answer' });
});
