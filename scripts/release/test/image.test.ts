import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import type { TarEntry } from '../../../agent/src/system/tar.ts';
import { findFreePort } from '../../../server/test/ports.ts';
import { repository } from '../../lib/steps.ts';
import { writeImageTree } from '../../package/image/write-image-tree.ts';
import {
  attempt,
  collectOwnImage,
  findObstacle,
  loadImage,
  podman,
  runPodman,
  untilReady,
  withData,
} from './containers.ts';
import {
  activateLicense,
  readKey,
  reportFirstValidation,
  type LicensedMachine,
} from './licensed-machine.ts';

const id = `latchkey-test-${process.pid}`;
const image = `localhost/${id}:present`;
const next = `localhost/${id}:next`;
const [data, restored] = [`${id}-data`, `${id}-restored`];
const built = `localhost/${id}:built`;
const tree = `dist/latchkey-linux-${id}`;

const exitCode = async (): Promise<string> =>
  (await runPodman('inspect', '--format={{.State.ExitCode}}', id)).trim();
const stop = async (): Promise<string> => {
  await runPodman('stop', '--time=50', id);
  return exitCode();
};
const latchkey = (...args: string[]): Promise<string> => runPodman('exec', id, 'latchkey', ...args);
const runNode = (script: string): Promise<string> =>
  runPodman('exec', id, '/opt/latchkey/bin/node', '--eval', script);

describe('the image', { skip: await findObstacle() }, async () => {
  const port = await findFreePort();
  const origin = `http://127.0.0.1:${port}`;
  let entries: readonly TarEntry[] = [];
  let key = '';
  let machine: LicensedMachine;

  const post = async (path: string, body: object): Promise<unknown> => {
    const response = await fetch(`${origin}/api/v1/licenses/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return response.json();
  };
  const start = async (tag: string, volume: string): Promise<void> => {
    const published = `--publish=127.0.0.1:${port}:8080`;
    await runPodman('run', '--detach', `--name=${id}`, published, ...withData(volume), tag);
    await untilReady(origin, id);
  };

  before(async () => {
    entries = await collectOwnImage(repository);
    await loadImage(repository, image, entries);
    const path = 'opt/latchkey/server/src/db/migrations/0099_invented.sql';
    const content = Buffer.from('create table invented (id integer);');
    await loadImage(repository, next, [...entries, { path, content, mode: 0o644 }]);
  });
  after(async () => {
    await podman('rm', '--force', id);
    await podman('volume', 'rm', '--force', data, restored);
    await podman('image', 'rm', '--force', image, next, built);
    await rm(join(repository, tree), { recursive: true, force: true });
  });

  test('has the files and the settings that a build with the Containerfile has', async () => {
    await writeImageTree(join(repository, tree), entries);
    await buildImage();
    assert.deepEqual(await readConfig(image), await readConfig(built));
    const [loaded, other] = [await listFiles(image), await listFiles(built)];
    assert.ok(loaded.size > 1_000);
    assert.deepEqual([...loaded.symmetricDifference(other)], []);
  });

  test('issues, activates and validates a license on the embedded PostgreSQL', async (t) => {
    const startedMs = Date.now();
    await start(image, data);
    key = readKey(await latchkey('license', 'issue', '--product', 'personal'));
    machine = await activateLicense(post, key);
    assert.equal(await machine.validate(), true);
    reportFirstValidation(t, startedMs);
    assert.equal((await podman('healthcheck', 'run', id)).code, 0);
  });

  test('runs as an account without privileges, on a root that it cannot change', async () => {
    const facts: unknown = JSON.parse(
      await runNode(`
        const fs = require('node:fs');
        const attempt = (path) => { try { fs.writeFileSync(path, ''); return 'written'; } catch (error) { return error.code; } };
        const status = fs.readFileSync('/proc/1/status', 'utf8');
        const field = (name) => status.match(new RegExp('^' + name + ':\\\\s*(.*)$', 'm'))[1];
        console.log(JSON.stringify({
          user: field('Uid').split('\\t')[0],
          capabilities: field('CapEff') + ' ' + field('CapBnd'),
          program: attempt('/opt/latchkey/server/src/main.js'),
          root: attempt('/new'),
          tools: fs.readdirSync('/bin').join(' '),
        }));`),
    );
    assert.deepEqual(facts, {
      user: '10001',
      capabilities: '0000000000000000 0000000000000000',
      program: 'EROFS',
      root: 'EROFS',
      tools: 'dash sh',
    });
  });

  test('stops with code 0, keeps its data, and recovers from a kill', async () => {
    assert.equal(await stop(), '0');
    await runPodman('start', id);
    await untilReady(origin, id);
    assert.equal(await machine.validate(), true);
    await runPodman('kill', '--signal=KILL', id);
    assert.equal(await exitCode(), '137');
    await runPodman('start', id);
    await untilReady(origin, id);
    assert.equal(await machine.validate(), true);
  });

  test('exits with code 78 for a setting that is not valid', async () => {
    const invalid = await podman(
      'run',
      '--rm',
      '--env=LATCHKEY_PORT=no',
      ...withData(restored),
      image,
    );
    assert.equal(invalid.code, 78);
    assert.match(invalid.stderr, /LATCHKEY_PORT must be a whole number/u);
  });

  test('is upgraded with its data, and the previous version refuses the newer schema', async () => {
    await latchkey('backup', '/var/lib/latchkey/before.zst');
    await stop();
    await runPodman('rm', id);
    await start(next, data);
    assert.equal(await machine.validate(), true);
    await stop();
    await runPodman('rm', id);
    const older = await podman('run', '--rm', ...withData(data), image);
    assert.equal(older.code, 78);
    assert.match(
      `${older.stdout}${older.stderr}`,
      /0099_invented, which this program does not know/u,
    );
  });

  test('is rolled back by the backup from before the upgrade', async () => {
    const mounted = `--volume=${data}:/before`;
    const copy = `require('node:fs').copyFileSync('/before/secret', '/var/lib/latchkey/secret')`;
    const node = '--entrypoint=["/opt/latchkey/bin/node"]';
    await runPodman('run', '--rm', mounted, node, ...withData(restored), image, '--eval', copy);
    const restore = ['restore', '/before/before.zst'];
    await runPodman('run', '--rm', mounted, ...withData(restored), image, ...restore);
    await start(image, restored);
    assert.equal(await machine.validate(), true);
    assert.match(
      await latchkey('license', 'list', '--json'),
      new RegExp(`"key_hint": "${key.slice(-4)}"`),
    );
    await stop();
  });
});

/** Builds the image as docs/operations/container.md describes. */
async function buildImage(): Promise<void> {
  const file = `--file=${repository}/deploy/Containerfile`;
  // Without layers, a build leaves only its image behind.
  const options = [
    '--format=docker',
    '--layers=false',
    `--build-arg=TREE=${tree}`,
    `--tag=${built}`,
  ];
  await runPodman('build', ...options, file, repository);
}

/** The configuration without labels, which only a release has. */
async function readConfig(tag: string): Promise<unknown> {
  const config = await runPodman('image', 'inspect', '--format={{json .Config}}', tag);
  return { ...JSON.parse(config), Labels: null };
}

/** Kind, mode, owner, size and target of every file. */
async function listFiles(tag: string): Promise<Set<string>> {
  const root = (await runPodman('image', 'mount', tag)).trim();
  try {
    const { stdout } = await attempt('find', [root, '-printf', '%P %y %m %U:%G %s %l\n']);
    // The sizes of directories depend on the file system.
    return new Set(stdout.replaceAll(/( d \S+ \S+) \d+/g, '$1').split('\n'));
  } finally {
    await runPodman('image', 'unmount', tag);
  }
}
