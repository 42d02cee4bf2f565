/** Runs the image under user ids that it does not know, as OpenShift and Kubernetes do, on a root that it cannot change. */
import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';

import { findFreePort } from '../../../server/test/ports.ts';
import { repository } from '../../lib/steps.ts';
import {
  collectOwnImage,
  findObstacle,
  loadImage,
  podman,
  RESTRICTED,
  runPodman,
  untilReady,
} from './containers.ts';
import { readKey } from './licensed-machine.ts';

const id = `latchkey-accounts-${process.pid}`;
const image = `localhost/${id}:present`;
const database = `${id}-database`;

/** Without an entry in the list of accounts, and without the volumes that the image declares, which clusters do not create. */
const AS_IN_A_CLUSTER = [...RESTRICTED, '--passwd=false', '--image-volume=ignore'];

/** A user and a group, and the group of the volume: as OpenShift chooses them, and with `fsGroup` of Kubernetes. */
const ACCOUNTS: readonly (readonly [user: string, groupOfVolume: number])[] = [
  ['1000680000:0', 0],
  ['12345:12345', 12_345],
];

const start = (name: string, ...options: readonly string[]): Promise<string> =>
  runPodman('run', '--detach', `--name=${name}`, ...AS_IN_A_CLUSTER, ...options, image);
const stop = async (name: string): Promise<string> => {
  await runPodman('stop', '--time=50', name);
  return (await runPodman('inspect', '--format={{.State.ExitCode}}', name)).trim();
};

describe('the image under any account', { skip: await findObstacle() }, () => {
  let [volume, published, origin] = ['', '', ''];

  before(async () => loadImage(repository, image, await collectOwnImage(repository)));
  beforeEach(async () => {
    // One of its own for each test, because podman may hold that of the last one.
    const port = await findFreePort();
    published = `--publish=127.0.0.1:${port}:8080`;
    origin = `http://127.0.0.1:${port}`;
    volume = mkdtempSync(join(tmpdir(), 'latchkey-volume-'));
  });
  afterEach(async () => {
    // One by one: a missing one prevents the removal of the others.
    for (const name of [id, database]) await podman('rm', '--force', name);
    rmSync(volume, { recursive: true });
  });
  after(async () => podman('image', 'rm', '--force', image));

  for (const [user, group] of ACCOUNTS) {
    test(`creates its database as ${user} in a volume of the group ${group}, and starts again`, async () => {
      chownSync(volume, 0, group);
      chmodSync(volume, 0o2775);
      await start(id, `--user=${user}`, published, `--volume=${volume}:/var/lib/latchkey`);
      await untilReady(origin, id);
      const key = readKey(
        await runPodman('exec', id, 'latchkey', 'license', 'issue', '--product', 'personal'),
      );
      assert.equal(await stop(id), '0');
      await runPodman('start', id);
      await untilReady(origin, id);
      const listed = await runPodman('exec', id, 'latchkey', 'license', 'list', '--json');
      assert.match(listed, new RegExp(`"key_hint": "${key.slice(-4)}"`, 'u'));
      assert.equal((await podman('healthcheck', 'run', id)).code, 0);
    });

    test(`runs as ${user} on another PostgreSQL, without a place to write to`, async () => {
      chownSync(volume, 0, group);
      chmodSync(volume, 0o2775);
      await start(database, `--user=${user}`, published, `--volume=${volume}:/var/lib/latchkey`);
      await untilReady(origin, database);
      const other = await findFreePort();
      await start(
        id,
        `--user=${user}`,
        `--publish=127.0.0.1:${other}:8080`,
        `--volume=${volume}/postgres:/database`,
        '--env=DATABASE_URL=postgres://latchkey@localhost/latchkey?host=/database',
        `--env=LATCHKEY_SECRET=${readFileSync(join(volume, 'secret'), 'utf8').trim()}`,
      );
      await untilReady(`http://127.0.0.1:${other}`, id);
      await runPodman('exec', id, 'latchkey', 'license', 'issue', '--product', 'personal');
      const { stdout, stderr } = await podman('logs', id);
      assert.doesNotMatch(stdout + stderr, /"level":"(?:warn|error)"|EACCES|EROFS/u);
      assert.equal(await stop(id), '0');
    });
  }
});
