import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { createServiceHome, type ServiceHome, type Settings } from '../service-process.ts';

const CONFIGURATION_EXIT_CODE = 78;

const SECRET = 'hunter2-and-more-random-characters-of-a-secret';

const WRONG_CATALOG = `key_prefix: LK
trial: { product: personal, features: [history] }
products:
  - id: personal
    name: Personal
    product_type: personal
    tier: personal
    features: history
    max_activations: many
`;

let home: ServiceHome;
/** Accepts connections and never responds. */
let unresponsive: Server;
let takenPort = 0;
let wrongCatalog = '';

before(async () => {
  home = await createServiceHome();
  unresponsive = createServer(() => {}).listen(0, '127.0.0.1');
  await once(unresponsive, 'listening');
  takenPort = portOf(unresponsive);
  wrongCatalog = join(home.directory, 'wrong.yaml');
  await writeFile(wrongCatalog, WRONG_CATALOG);
});

after(async () => {
  unresponsive.close();
  await home[Symbol.asyncDispose]();
});

function portOf(server: Server): number {
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return address.port;
}

/** Starts the service with invalid settings; returns its sentences after it exited. */
async function startInvalid(settings: Settings): Promise<string[]> {
  const { code, output } = await home.runToEnd(settings);
  assert.equal(code, CONFIGURATION_EXIT_CODE, output);
  assert.doesNotMatch(output, /hunter2/u);
  return output.split('\n').map((line) => {
    assert.match(line, /^latchkey: /u);
    return line.slice('latchkey: '.length);
  });
}

function externalDatabase(url: string): Settings {
  return { DATABASE_URL: url, LATCHKEY_SECRET: SECRET };
}

describe('the service refuses to start', { concurrency: 3 }, () => {
  test('with invalid settings, and reports all of them, including the lines of the catalogue', async () => {
    const problems = await startInvalid({
      LATCHKEY_HOST: 'http://localhost',
      LATCHKEY_PORT: '80x',
      LATCHKEY_PUBLIC_URL: 'https://me:hunter2@example.com',
      LATCHKEY_TRUSTED_PROXIES: 'true',
      LATCHKEY_SECRET: 'hunter2',
      DATABASE_URL: 'postgres://me:hunter2@[::1/latchkey',
      LATCHKEY_LOG_LEVL: 'debug',
      LATCHKEY_CATALOG: wrongCatalog,
    });
    assert.deepEqual(problems, [
      'LATCHKEY_HOST must be an IP address or a host name such as 127.0.0.1 or 0.0.0.0, not "http://localhost".',
      'LATCHKEY_PORT must be a whole number from 0 to 65535, not "80x".',
      'LATCHKEY_PUBLIC_URL must be a plain http:// or https:// URL such as https://licenses.example.com, not "https://[credentials]@example.com".',
      'LATCHKEY_TRUSTED_PROXIES must be a comma-separated list of proxy addresses or CIDR networks such as 127.0.0.0/8,10.0.0.0/8, or none; trusting everyone is not possible, not "true".',
      'LATCHKEY_SECRET must have at least 32 characters without commas, chosen at random (make one with: openssl rand -base64 32).',
      'DATABASE_URL must be a URL such as postgres://user:password@host:5432/latchkey, with special characters of the password percent-encoded.',
      'LATCHKEY_LOG_LEVL is not a setting of Latchkey: LATCHKEY_LOG_LEVEL was probably meant.',
      'wrong.yaml:8: products[0].features must be a list of at most 100 texts',
      'wrong.yaml:9: products[0].max_activations must be a whole number from 1 to 1000000',
    ]);
  });

  test('with an invalid catalogue', async () => {
    assert.deepEqual(await startInvalid({ LATCHKEY_CATALOG: wrongCatalog }), [
      'wrong.yaml:8: products[0].features must be a list of at most 100 texts',
      'wrong.yaml:9: products[0].max_activations must be a whole number from 1 to 1000000',
    ]);
  });

  test('on a port in use, of the service or of the metrics', async () => {
    const sentence = `Port ${takenPort} on 127.0.0.1 is taken by another program: stop it, or set`;
    assert.deepEqual(await startInvalid({ LATCHKEY_PORT: String(takenPort) }), [
      `${sentence} LATCHKEY_PORT to a free one.`,
    ]);
    assert.deepEqual(await startInvalid({ LATCHKEY_METRICS_PORT: String(takenPort) }), [
      `${sentence} LATCHKEY_METRICS_PORT to a free one.`,
    ]);
  });

  test('on an address of another machine', async () => {
    // A documentation address (RFC 5737), which no machine has.
    assert.deepEqual(await startInvalid({ LATCHKEY_HOST: '192.0.2.1' }), [
      'LATCHKEY_HOST is 192.0.2.1, which is not an address of this machine: set one of its addresses, such as 127.0.0.1.',
    ]);
  });

  test('with an unreachable server in DATABASE_URL', async () => {
    assert.deepEqual(
      await startInvalid(externalDatabase('postgres://me:hunter2@127.0.0.1:1/latchkey')),
      [
        'The database of DATABASE_URL cannot be used (connect ECONNREFUSED 127.0.0.1:1): check the URL, and that the server runs.',
      ],
    );
  });

  test('with a server in DATABASE_URL that does not respond, after two attempts at most', async () => {
    let attempts = 0;
    const count = (): void => void (attempts += 1);
    unresponsive.on('connection', count);
    const url = `postgres://me:hunter2@127.0.0.1:${takenPort}/latchkey`;
    assert.deepEqual(await startInvalid(externalDatabase(url)), [
      'The database of DATABASE_URL cannot be used (Connection terminated due to connection timeout): check the URL, and that the server runs.',
    ]);
    unresponsive.off('connection', count);
    assert.ok(attempts === 1 || attempts === 2, `${attempts} attempts`);
  });

  test('after SIGTERM during the start', async () => {
    const server = createServer(() => {}).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const url = `postgres://me:hunter2@127.0.0.1:${portOf(server)}/latchkey`;
      const connected = once(server, 'connection');
      const { code, output } = await home.runToEnd(externalDatabase(url), connected);
      assert.deepEqual([code, output], [128 + constants.signals.SIGTERM, '']);
    } finally {
      server.close();
    }
  });
});
