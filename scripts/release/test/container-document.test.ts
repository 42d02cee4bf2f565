/** Runs the commands of three sections of container.md, on other ports, with a storage of podman of their own. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

import type { TarEntry } from '../../../agent/src/system/tar.ts';
import { findFreePort } from '../../../server/test/ports.ts';
import { readCommands } from '../../lib/document-commands.ts';
import { hasPrograms } from '../../lib/documented-service.ts';
import { repository } from '../../lib/steps.ts';
import { DEBIAN_NAMES } from '../../package/deb/pack-deb.ts';
import { packImage } from '../../package/image/pack-image.ts';
import { lacksEarlierPostgres, withEarlierPostgres } from '../upgrade/earlier-postgres.ts';
import { readVersion } from '../version.ts';
import {
  collectOwnImage,
  containerVariables,
  findObstacle,
  ownArch,
  runPodman,
} from './containers.ts';
import { readKey } from './licensed-machine.ts';

const run = promisify(execFile);

const TIMEOUT_MS = 300_000;

const REMOVE_ALL =
  'podman rm --force --all; podman volume rm --all --force; podman rmi --all --force';

const DOCUMENT = 'docs/operations/container.md';

/** What the next version has, and the present one does not know. */
const MIGRATION: TarEntry = {
  path: 'opt/latchkey/server/src/db/migrations/0099_invented.sql',
  content: Buffer.from('create table invented (id integer);'),
  mode: 0o644,
};

const skip = (await findObstacle()) || (hasPrograms('curl') ? false : 'needs curl');

/** The service in the image. */
const ROOT = 'opt/latchkey/';

const lacksPostgres = await lacksEarlierPostgres();

describe('the documented commands of the container', { skip }, () => {
  let folder = '';
  let port = 0;
  let entries: readonly TarEntry[] = [];
  const [load = ''] = readCommands(DOCUMENT, 'Load it');
  const [start = ''] = readCommands(DOCUMENT, 'Run one container');
  const [backUp = '', remove = '', restore = ''] = readCommands(DOCUMENT, 'Back up and upgrade');

  const resources = new AsyncDisposableStack();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-container-'));
    resources.defer(() => rm(folder, { recursive: true, force: true }));
    port = await findFreePort();
    const driver = (await runPodman('info', '--format={{.Store.GraphDriverName}}')).trim();
    const storage = `driver = "${driver}"\ngraphroot = "${folder}/storage"\nrunroot = "${folder}/run"\n`;
    await writeFile(join(folder, 'storage.conf'), `[storage]\n${storage}`);
    // Not before the storage is set: it would remove the containers of the user.
    resources.defer(async () => void (await shell(REMOVE_ALL)));
    entries = await collectOwnImage(repository);
  });
  after(() => resources.disposeAsync());

  /** @returns the output @throws Error when a command fails */
  async function shell(commands: string): Promise<string> {
    const env = { ...containerVariables, CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf') };
    const script = commands.replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`);
    const options = { cwd: folder, env, timeout: TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
    return (await run('sh', ['-euc', script], options)).stdout;
  }

  async function loadImage(files: readonly TarEntry[]): Promise<void> {
    const version = await readVersion(repository);
    const source = { version, arch: ownArch, entries: files };
    const { name, content } = await packImage(repository, source);
    await writeFile(join(folder, name), content);
    await shell(load.replace('amd64', DEBIAN_NAMES[ownArch]));
  }

  test('load, run, back up, upgrade and roll back', async () => {
    await loadImage(entries);
    const hint = readKey(await shell(start)).slice(-4);
    const knows = async () =>
      (await shell('podman exec latchkey latchkey license list --json')).includes(
        `"key_hint": "${hint}"`,
      );
    await shell(backUp);

    await loadImage([...entries, MIGRATION]);
    await shell(remove);
    readKey(await shell(start));
    assert.ok(await knows(), 'after the upgrade');

    await shell(remove);
    await shell(restore);
    const older = start
      .replace('--volume latchkey:', '--volume latchkey-restored:')
      .replace(/ latchkey$/m, ' latchkey:before');
    assert.notEqual(older, start);
    readKey(await shell(older));
    assert.ok(await knows(), 'after rolling back');
  });

  test('move the data of another PostgreSQL', { skip: lacksPostgres }, async () => {
    const [move = ''] = readCommands(DOCUMENT, 'A new major version of PostgreSQL');
    await shell(`${remove}\npodman volume rm --all --force`);
    await loadImage(await withEarlierPostgres(entries, 'instead', ROOT));
    const hint = readKey(await shell(start)).slice(-4);
    await shell(`${backUp}\n${remove}`);

    await loadImage(entries);
    const once = 'podman run --rm --volume latchkey:/var/lib/latchkey latchkey';
    await assert.rejects(shell(once), {
      code: 78,
      stderr: /by PostgreSQL 17, .*: run "latchkey upgrade-database"\.$/m,
    });
    await assert.rejects(shell(`${once} upgrade-database`), { stderr: /--old-binaries/ });
    readKey(await shell(start.replace(/ latchkey$/m, ' latchkey:before')));

    await loadImage(await withEarlierPostgres(entries, 'beside', ROOT));
    assert.match(await shell(move), /Upgraded the database from PostgreSQL 17 to 18: /);
    readKey(await shell(start));
    const listed = await shell('podman exec latchkey latchkey license list --json');
    assert.ok(listed.includes(`"key_hint": "${hint}"`));
    const removed = await shell('podman exec latchkey latchkey upgrade-database --remove-old');
    assert.match(removed, /^Removed .*postgres-17-/);
  });
});
