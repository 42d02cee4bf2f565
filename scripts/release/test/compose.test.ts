/** Starts the compose files of deploy/ by podman-compose, as docs/operations/container.md describes. */
import assert from 'node:assert/strict';
import {
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { CertificateFixture } from '../../../agent/test/certificates.ts';
import { findFreePort } from '../../../server/test/ports.ts';
import { hasPrograms } from '../../lib/documented-service.ts';
import { repository } from '../../lib/steps.ts';
import {
  attempt,
  collectOwnImage,
  findObstacle,
  loadImage,
  ownArch,
  podman,
} from './containers.ts';
import { activateLicense, readKey, reportFirstValidation } from './licensed-machine.ts';
import { tagStandIns } from './stand-ins.ts';

const id = `latchkey-compose-${process.pid}`;
const image = `localhost/${id}:present`;

/** For so long a client repeats a request whose answer is 502 or 503. */
const RETRY_MS = 30_000;

/** The user id of the service in the image. */
const IMAGE_ACCOUNT = 10_001;

/** Containers start beside other work. */
const START_TIMEOUT_MS = 120_000;

const skip =
  (await findObstacle()) ||
  (hasPrograms('podman-compose', 'openssl') ? false : 'needs podman-compose and openssl');

/** podman-compose of Debian 12 leaves them. */
async function removeNetworks(): Promise<void> {
  const { stdout } = await podman('network', 'ls', '--quiet', '--filter', `name=${id}`);
  const names = stdout.split('\n').filter((name) => name !== '');
  if (names.length > 0) await podman('network', 'rm', ...names);
}

describe('the compose files', { skip }, () => {
  const resources = new AsyncDisposableStack();
  const certificates = new CertificateFixture();
  const ca = certificates.createRoot('root');
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-compose-'));
  const backups = join(folder, 'backups');
  let port = 0;
  let file = '';

  before(async () => {
    await loadImage(repository, image, await collectOwnImage(repository));
    resources.use(await tagStandIns(image, ownArch));
    await writeSettings();
  });
  after(async () => {
    await resources.disposeAsync();
    certificates[Symbol.dispose]();
    rmSync(folder, { recursive: true });
    await podman('image', 'rm', '--force', image);
  });

  async function writeSettings(): Promise<void> {
    cpSync(join(repository, 'deploy'), join(folder, 'deploy'), { recursive: true });
    copyFileSync(join(repository, 'catalog.example.yaml'), join(folder, 'catalog.yaml'));
    port = await findFreePort();
    const { cert, key } = ca.issueServer();
    writeFileSync(join(folder, 'fullchain.pem'), cert);
    writeFileSync(join(folder, 'privkey.pem'), key);
    mkdirSync(backups, { mode: 0o700 });
    chownSync(backups, IMAGE_ACCOUNT, IMAGE_ACCOUNT);
    writeFileSync(join(folder, 'latchkey.env'), 'LATCHKEY_LOG_LEVEL=debug\n');
    const variables = {
      IMAGE: image,
      LATCHKEY_PUBLIC_URL: `https://localhost:${port}`,
      LATCHKEY_SECRET: 'a master secret for the tests alone',
      POSTGRES_PASSWORD: 'for-the-tests-alone',
      CATALOG: join(folder, 'catalog.yaml'),
      TLS_DIRECTORY: folder,
      BACKUPS: backups,
      SETTINGS: join(folder, 'latchkey.env'),
      HTTP_PORT: await findFreePort(),
      HTTPS_PORT: port,
    };
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(folder, 'deploy', '.env'), lines.join(''));
  }

  /** @returns its output @throws Error when it fails */
  async function compose(...args: readonly string[]): Promise<string> {
    const own = ['--project-name', id, '--file', `deploy/${file}`];
    const { code, stdout, stderr } = await attempt('podman-compose', [...own, ...args], folder);
    if (code !== 0) throw new Error(`podman-compose ${args.join(' ')} failed: ${stdout}${stderr}`);
    return stdout;
  }

  async function start(name: string): Promise<AsyncDisposable> {
    file = name;
    await compose('up', '--detach');
    return {
      async [Symbol.asyncDispose]() {
        await compose('down', '--volumes');
        await removeNetworks();
      },
    };
  }

  function send(method: string, path: string, body: object | null): Promise<[number, string]> {
    const { promise, resolve, reject } = Promise.withResolvers<[number, string]>();
    const headers = body === null ? {} : { 'content-type': 'application/json' };
    const url = `https://localhost:${port}/api/v1/${path}`;
    // Each with a connection of its own: a reload of nginx closes idle ones, while the next request may be on its way.
    const options = { method, headers, ca: ca.own.cert, agent: false };
    const sent = request(url, options, (response) => {
      text(response).then((answer) => resolve([response.statusCode ?? 0, answer]), reject);
    });
    sent.on('error', reject).end(body === null ? '' : JSON.stringify(body));
    return promise;
  }

  /** Sends a request as a client does. */
  async function post(path: string, body: object): Promise<unknown> {
    const deadline = Date.now() + RETRY_MS;
    for (;;) {
      const [status, answer] = await send('POST', `licenses/${path}`, body);
      if (status < 500) return JSON.parse(answer);
      assert.ok(Date.now() < deadline, `${status}: ${answer}`);
      await sleep(200);
    }
  }

  async function isServed(): Promise<boolean> {
    try {
      const [status] = await send('GET', 'health/ready', null);
      return status === 200;
    } catch {
      // nginx does not listen yet.
      return false;
    }
  }

  async function untilServed(): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await isServed())) {
      assert.ok(Date.now() < deadline, await compose('logs'));
      await sleep(200);
    }
  }

  test('compose.yaml serves one node through nginx with TLS', async (t) => {
    const startedMs = Date.now();
    await using _ = await start('compose.yaml');
    await untilServed();
    const issue = ['latchkey', 'license', 'issue', '--product', 'personal'];
    const key = readKey(await compose('exec', '-T', 'latchkey', ...issue));
    const machine = await activateLicense(post, key);
    assert.equal(await machine.validate(), true);
    reportFirstValidation(t, startedMs);
    await checkSettingsAndBackup('latchkey');
  });

  test('compose-two-nodes.yaml serves requests while either node is stopped', async () => {
    const nodes = ['latchkey-1', 'latchkey-2'];
    await using _ = await start('compose-two-nodes.yaml');
    await untilServed();
    for (const node of nodes) await untilHealthy(node);
    await reloadProxy();
    const issue = ['latchkey', 'license', 'issue', '--product', 'personal'];
    const key = readKey(await compose('exec', '-T', 'latchkey-1', ...issue));
    const machine = await activateLicense(post, key);
    await checkSettingsAndBackup('latchkey-1');
    for (const node of nodes) {
      const stopping = compose('stop', node);
      const stopped = new AbortController();
      stopping.then(
        () => stopped.abort(),
        () => stopped.abort(),
      );
      while (!stopped.signal.aborted) assert.equal(await machine.validate(), true);
      await stopping;
      assert.equal(await machine.validate(), true);
      await compose('start', node);
      await untilHealthy(node);
      await reloadProxy();
    }
  });

  /** After the start of a node, whose address may be another one: a node that finds no database is restarted, too. */
  async function reloadProxy(): Promise<void> {
    await compose('exec', '-T', 'proxy', 'nginx', '-s', 'reload');
  }

  async function checkSettingsAndBackup(node: string): Promise<void> {
    const level = await compose('exec', '-T', node, 'sh', '-c', 'echo $LATCHKEY_LOG_LEVEL');
    assert.match(level, /^debug$/m);
    const name = `${node}.zst`;
    await compose('exec', '-T', node, 'latchkey', 'backup', `/var/backups/latchkey/${name}`);
    assert.ok(statSync(join(backups, name)).size > 0);
  }

  async function untilHealthy(node: string): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    const check = ['/opt/latchkey/bin/node', '/opt/latchkey/healthcheck.mjs'];
    for (;;) {
      const healthy = await compose('exec', '-T', node, ...check).catch(() => null);
      if (healthy !== null) return;
      assert.ok(Date.now() < deadline, await compose('logs'));
      await sleep(200);
    }
  }
});
