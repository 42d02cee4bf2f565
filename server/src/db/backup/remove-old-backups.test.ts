import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';

import { nameBackup } from './backup-name.ts';
import { HEADER_PREFIX } from './format.ts';
import { removeOldBackups } from './remove-old-backups.ts';

const OWN = '0a1b2c';
const NOW = new Date('2026-11-28T03:00:00Z');
const written = nameBackup(NOW);

async function openDirectory() {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-rotation-'));
  const add = async (name: string, createdAt: string, more: object = {}): Promise<string> => {
    await writeFile(join(directory, name), zstdCompressSync(renderHeader(createdAt, more)));
    return name;
  };
  const addAt = (day: string, more?: object) => {
    const createdAt = `2026-11-${day}T03:00:00.000Z`;
    return add(nameBackup(new Date(createdAt)), createdAt, more);
  };
  await add(written, NOW.toISOString());
  return {
    directory,
    add,
    addAt,
    rotate: (keep: number, remove?: (path: string) => Promise<void>) =>
      removeOldBackups(join(directory, written), {
        keep,
        secretIds: [OWN],
        now: NOW,
        ...(remove && { remove }),
      }),
    list: async () => (await readdir(directory)).toSorted(),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}

function renderHeader(createdAt: string, more: object): string {
  const migrations = [{ name: '0001_schema.sql', checksum: '0'.repeat(64) }];
  const header = { format: 1, latchkey: '1.0.0', created_at: createdAt, secret_ids: [OWN] };
  const rest = { migrations, partitions: [], sequences: [] };
  return `${HEADER_PREFIX}${JSON.stringify({ ...header, ...rest, ...more })}\n`;
}

test('keeps as many backups as it should, with the new one', async () => {
  await using home = await openDirectory();
  const [first, second, third] = [
    await home.addAt('25'),
    await home.addAt('26'),
    await home.addAt('27'),
  ];
  const rotation = await home.rotate(3);
  assert.deepEqual(rotation, { removed: [first], unrecognized: [], failures: [] });
  assert.deepEqual(await home.list(), [second, third, written]);
  assert.deepEqual((await home.rotate(1)).removed, [third, second]);
  assert.deepEqual(await home.list(), [written]);
});

test('keeps the new backup when the clock was set back and others look newer', async () => {
  await using home = await openDirectory();
  const fromTheFuture = await home.addAt('30');
  const old = await home.addAt('20');
  assert.deepEqual((await home.rotate(1)).removed, [old]);
  assert.deepEqual(await home.list(), [written, fromTheFuture]);
});

test('keeps a backup with two commands at the same time, whichever of them ends first', async () => {
  await using home = await openDirectory();
  const later = await home.addAt('29');
  const rotateLater = () =>
    removeOldBackups(join(home.directory, later), {
      keep: 1,
      secretIds: [OWN],
      now: new Date('2026-11-29T03:00:00Z'),
    });
  assert.deepEqual((await home.rotate(1)).removed, []);
  assert.deepEqual((await rotateLater()).removed, [written]);
  assert.deepEqual(await home.list(), [later]);
});

test('does not touch files with other names', async () => {
  await using home = await openDirectory();
  const names = [
    await home.add('2026-11-01.zst', '2026-11-01T00:00:00Z'),
    await home.add('before-upgrade.zst', '2026-11-01T00:00:00Z'),
    await home.add('latchkey-2026-11-01T03-00-00Z.zst.gpg', '2026-11-01T00:00:00Z'),
  ];
  const nothing = { removed: [], unrecognized: [], failures: [] };
  assert.deepEqual(await home.rotate(1), nothing);
  assert.deepEqual(await home.list(), [...names, written].toSorted());
});

test('keeps and reports what has the name of a backup and is none of this installation', async () => {
  await using home = await openDirectory();
  const { directory } = home;
  const path = (day: string) => join(directory, nameBackup(new Date(`2026-11-${day}T03:00:00Z`)));
  await writeFile(path('10'), 'a shopping list');
  await writeFile(path('11'), '');
  await writeFile(path('12'), zstdCompressSync('a compressed shopping list\n'));
  await mkdir(path('13'));
  await symlink(join(directory, written), path('14'));
  await symlink('/nowhere', path('15'));
  await home.addAt('16', { format: 99 });
  await home.addAt('17', { secret_ids: ['ffffff'] });
  await home.addAt('18', { created_at: 'yesterday' });
  const before = await home.list();
  const { removed, unrecognized, failures } = await home.rotate(1);
  assert.deepEqual([removed, failures], [[], []]);
  assert.deepEqual(
    unrecognized,
    before.filter((name) => name !== written),
  );
  assert.deepEqual(await home.list(), before);
});

test('removes a backup under an earlier master secret that is still known', async () => {
  await using home = await openDirectory();
  const earlier = await home.addAt('20', { secret_ids: ['ffffff', OWN] });
  assert.deepEqual((await home.rotate(1)).removed, [earlier]);
});

test('goes on after a file that cannot be removed, and reports it', async () => {
  await using home = await openDirectory();
  const [first, second] = [await home.addAt('20'), await home.addAt('21')];
  const { removed, failures } = await home.rotate(1, async (path) => {
    if (path.endsWith(second)) throw new Error('operation not permitted');
    await rm(path);
  });
  assert.deepEqual(removed, [first]);
  assert.deepEqual(failures, [{ name: second, cause: 'operation not permitted' }]);
  assert.deepEqual(await home.list(), [second, written]);
});

test('removes what a killed command left an hour ago, and nothing that may be written now', async () => {
  await using home = await openDirectory();
  const { pid: ended } = spawnSync('true');
  const addPartial = async (pid: number, changedAt: string): Promise<string> => {
    const name = `.${nameBackup(new Date(changedAt))}.${pid}.partial`;
    await writeFile(join(home.directory, name), 'half');
    await utimes(join(home.directory, name), new Date(changedAt), new Date(changedAt));
    return name;
  };
  const left = await addPartial(ended, '2026-11-28T01:59:00Z');
  const recent = await addPartial(ended, '2026-11-28T02:59:00Z');
  const running = await addPartial(process.pid, '2026-11-28T01:58:00Z');
  assert.deepEqual((await home.rotate(14)).removed, [left]);
  assert.deepEqual(await home.list(), [running, recent, written].toSorted());
});
