import assert from 'node:assert/strict';
import { cp, rm, writeFile } from 'node:fs/promises';
import { createGzip } from 'node:zlib';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { findFreePort } from '../../../server/test/ports.ts';
import { repository } from '../../lib/steps.ts';
import { collectServiceTree } from '../../package/service/service-tree.ts';
import { writeTree } from '../../package/write-tree.ts';
import { readVersion } from '../version.ts';
import {
  buildImage,
  ensureBase,
  findObstacle,
  podman,
  runPodman,
  untilReady,
  withData,
} from './containers.ts';
import { activateLicense, readKey, type LicensedMachine } from './licensed-machine.ts';

const arch = process.arch === 'arm64' ? 'arm64' : 'x64';
const id = `latchkey-test-${process.pid}`;
const image = `localhost/${id}:present`;
const next = `localhost/${id}:next`;
const [data, restored] = [`${id}-data`, `${id}-restored`];
const trees = [`dist/latchkey-linux-${id}`, `dist/latchkey-linux-${id}-next`] as const;

/** The largest download that the image may be, compressed as registries do. */
const MAX_BYTES = 150_000_000;

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
    await ensureBase();
    const { entries } = await collectServiceTree(repository, await readVersion(repository), arch);
    await writeTree(join(repository, trees[0]), entries);
    await buildImage(repository, trees[0], image);
    await cp(join(repository, trees[0]), join(repository, trees[1]), {
      recursive: true,
      verbatimSymlinks: true,
    });
    const migration = 'server/src/db/migrations/0099_invented.sql';
    await writeFile(join(repository, trees[1], migration), 'create table invented (id integer);');
    await buildImage(repository, trees[1], next);
  });
  after(async () => {
    await podman('rm', '--force', id);
    await podman('volume', 'rm', '--force', data, restored);
    await podman('image', 'rm', '--force', image, next);
    for (const tree of trees) await rm(join(repository, tree), { recursive: true, force: true });
  });

  test('is small', async () => {
    const bytes = await measureCompressed(image);
    assert.ok(bytes < MAX_BYTES, `${bytes} bytes`);
  });

  test('issues, activates and validates a license on the embedded PostgreSQL', async () => {
    await start(image, data);
    key = readKey(await latchkey('license', 'issue', '--product', 'personal'));
    machine = await activateLicense(post, key);
    assert.equal(await machine.validate(), true);
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
      tools: 'sh',
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

async function measureCompressed(tag: string): Promise<number> {
  const saving = spawn('podman', ['save', '--format=docker-archive', tag], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let bytes = 0;
  for await (const chunk of saving.stdout.pipe(createGzip())) bytes += Buffer.byteLength(chunk);
  assert.ok(bytes > 1_000_000, 'the image was saved');
  return bytes;
}
