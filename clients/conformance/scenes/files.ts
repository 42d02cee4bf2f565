import { lstat, mkdir, readdir, rename, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import {
  ENTITLEMENT_INVALID,
  failed,
  LICENSED,
  LICENSED_KEPT,
  LICENSED_SOLO,
  noAnswer,
  NOT_ACTIVATED,
  OK,
  refused,
  TRIAL,
  VALIDATE,
} from '../play/expected.ts';
import { scene, SkippedError, type Scene, type Theme } from '../play/scene.ts';
import type { KeptFile, Stage } from '../play/stage.ts';
import { expect, expectEqual, readDecision } from './steps.ts';

/** A damaged file is renamed, and the license can be entered again. */
function setsAside(what: string, damage: (text: string) => string | Buffer): Scene {
  return scene(`a damaged file is renamed and reported: ${what}`, async (stage) => {
    const { client, license } = await stage.openLicensed();
    await client.close();
    const damaged = damage(stage.readFile());
    await stage.writeFile(damaged);
    const again = await stage.open(NOT_ACTIVATED);
    expectEqual('the reported problems', again.problems, ['file_damaged']);
    const names = await readdir(stage.folder);
    expect('license.json.damaged is missing', names.includes('license.json.damaged'));
    await again.activate(license.key, { result: OK, state: LICENSED });
    expectEqual('active machines', (await license.listActive()).length, 1);
    await stage.restart(again, LICENSED_KEPT);
  });
}

/**
 * Replaces the kept file by a link to itself, which not even root can read.
 * @returns a function that moves the file back, and fails if the link was replaced
 */
async function makeUnreadable({ folder }: Stage): Promise<() => Promise<void>> {
  const file = join(folder, 'license.json');
  const moved = join(folder, 'moved');
  await rename(file, moved);
  await symlink('license.json', file).catch(() => {
    throw new SkippedError('no permission to create a link');
  });
  return async () => {
    expect('the file was replaced', (await lstat(file)).isSymbolicLink());
    await rename(moved, file);
  };
}

export const FILES: Theme = {
  name: 'files',
  scenes: [
    scene('the state is one file that only its owner reads', async (stage) => {
      await stage.openLicensed();
      expectEqual('the files', await readdir(stage.folder), ['license.json']);
      const { mode } = await stat(join(stage.folder, 'license.json'));
      if (process.platform !== 'win32') expectEqual('the mode', mode & 0o777, 0o600);
      const { version } = stage.readKept();
      expectEqual('the version', version, 1);
    }),

    setsAside('cut', (text) => text.slice(0, text.length / 2)),
    setsAside('empty', () => ''),
    setsAside('zeros after a power failure', (text) => Buffer.alloc(text.length)),
    setsAside('JSON of another program', () => '["license"]'),

    scene('a file that cannot be read is not replaced, and is read again', async (stage) => {
      const { client } = await stage.openLicensed();
      await client.close();
      const restore = await makeUnreadable(stage);
      const again = await stage.open(NOT_ACTIVATED);
      const unreadable = {
        result: failed('folder_unreadable'),
        state: NOT_ACTIVATED,
        requests: [],
      };
      await again.check(unreadable);
      await again.machines(unreadable);
      await again.deactivate(unreadable);
      await again.offlineRequest('studio', null);
      expect('the missing write was not reported', again.problems.includes('folder_unwritable'));
      await restore();
      await again.check({ result: OK, state: LICENSED, requests: [VALIDATE] });
      const { key, request } = stage.readKept();
      expect('the key is missing', typeof key === 'string');
      expect('what changed in between is missing', typeof request === 'object' && request !== null);
      await stage.restart(again, LICENSED_KEPT);
    }),

    scene(
      'a trial that starts while the file cannot be read does not replace a license',
      async (stage) => {
        const { client } = await stage.openLicensed();
        await client.close();
        const before = readDecision(stage);
        const restore = await makeUnreadable(stage);
        const again = await stage.open(NOT_ACTIVATED);
        await again.startTrial({ result: OK, state: TRIAL });
        await restore();
        await stage.network.refuse();
        await again.check({ result: noAnswer('connection'), state: LICENSED_KEPT });
        expectEqual('the license', readDecision(stage), before);
        await stage.network.repair();
        await again.check({ result: OK, state: LICENSED, requests: [VALIDATE] });
        await stage.restart(again, LICENSED_KEPT);
      },
    ),

    scene(
      'a license that is activated while the file cannot be read replaces it',
      async (stage) => {
        const { client } = await stage.openLicensed();
        await client.close();
        const restore = await makeUnreadable(stage);
        const again = await stage.open(NOT_ACTIVATED);
        const license = await stage.issue('solo');
        await again.activate(license.key, { result: OK, state: LICENSED_SOLO });
        await restore();
        await stage.network.refuse();
        const state = { ...LICENSED_SOLO, source: 'kept' };
        await again.check({ result: noAnswer('connection'), state });
        expectEqual('the key', stage.readKept()['key'], license.key);
        await stage.restart(again, state);
      },
    ),

    scene('a temporary file that a killed process left has no effect', async (stage) => {
      const { client } = await stage.openLicensed();
      await client.kill();
      const half = stage.readFile().slice(0, 100);
      for (const name of ['license.json.tmp', 'license.json.4711.tmp', '.license.json.tmp']) {
        await writeFile(join(stage.folder, name), half);
      }
      const again = await stage.open(LICENSED_KEPT);
      await again.check({ result: OK, state: LICENSED });
      await stage.restart(again, LICENSED_KEPT);
    }),

    scene('temporary files of killed processes are removed after an hour', async (stage) => {
      const { client } = await stage.openLicensed();
      await client.close();
      const twoHoursAgo = new Date(Date.now() - 2 * 3_600_000);
      for (const name of ['license.json.1.tmp', 'license.json.2.tmp', 'other.tmp']) {
        await writeFile(join(stage.folder, name), '');
        const isOld = name !== 'license.json.2.tmp';
        if (isOld) await utimes(join(stage.folder, name), twoHoursAgo, twoHoursAgo);
      }
      await stage.open(LICENSED_KEPT);
      const left = ['license.json', 'license.json.2.tmp', 'other.tmp'];
      expectEqual('the files', (await readdir(stage.folder)).toSorted(), left);
    }),

    scene('with a folder that cannot be written, the license works for this run', async (stage) => {
      await mkdir(stage.otherFolder('home'), { recursive: true });
      await writeFile(join(stage.otherFolder('home'), 'file'), 'no folder');
      const license = await stage.issue();
      const folder = join(stage.otherFolder('home'), 'file', 'client');
      const client = await stage.open(NOT_ACTIVATED, { folder });
      await client.activate(license.key, { result: OK, state: LICENSED });
      expect('the problem was not reported', client.problems.includes('folder_unwritable'));
      await client.check({ result: OK, state: LICENSED });
      await stage.restart(client, NOT_ACTIVATED, { folder });
    }),

    scene('fields of a newer version survive', async (stage) => {
      const { client } = await stage.openLicensed();
      await client.close();
      const newer = { ...stage.readKept(), theme: { name: 'dark' }, seats: [1, 2] };
      await stage.writeFile(JSON.stringify(newer));
      const again = await stage.open(LICENSED_KEPT);
      await again.check({ result: OK, state: LICENSED });
      const { theme, seats } = stage.readKept();
      expectEqual(
        'the unknown fields',
        { theme, seats },
        { theme: { name: 'dark' }, seats: [1, 2] },
      );
    }),

    scene('a file with the least fields is enough', async (stage) => {
      const { client } = await stage.openLicensed();
      await client.close();
      const { version, key, activation_id, entitlement } = stage.readKept();
      await stage.writeFile(JSON.stringify({ version, key, activation_id, entitlement }));
      const again = await stage.open({ ...LICENSED_KEPT, last_answer_at: null }, { nowMs: null });
      await again.check({ result: OK, state: LICENSED });
    }),

    scene('a file that this client wrote is kept for the others', async (stage) => {
      await stage.openLicensed();
      const { keptFiles, clientName } = stage.dependencies;
      keptFiles.set(clientName, { text: stage.readFile(), machine: stage.machine });
    }),

    scene('the file of every other client runs here', async (stage) => {
      const others: readonly (readonly [string, KeptFile])[] = [
        ...stage.dependencies.keptFiles,
      ].filter(([name]) => name !== stage.dependencies.clientName);
      for (const [name, { text, machine }] of others) {
        const folder = stage.otherFolder(name);
        await stage.writeFile(text, folder);
        const client = stage.startDriver();
        const command = stage.openCommand({ folder, machine });
        const { state } = await client.do(command);
        expectEqual(`the license of ${name}`, state?.kind, 'licensed');
        const answer = await client.check({ result: OK });
        expectEqual(`the checked license of ${name}`, answer.state?.kind, 'licensed');
      }
      // The number of files differs from client to client, and so do the transcripts.
      stage.transcript.clear();
    }),

    scene('a changed entitlement does not run', async (stage) => {
      const { client } = await stage.openLicensed();
      await client.close();
      const kept = stage.readKept();
      const [header, payload = '', signature] = String(kept['entitlement']).split('.');
      const claims = Buffer.from(payload, 'base64url').toString().replace('"gpu"', '"all"');
      const entitlement = `${header}.${Buffer.from(claims).toString('base64url')}.${signature}`;
      await stage.writeFile(JSON.stringify({ ...kept, entitlement }));
      const again = await stage.open(ENTITLEMENT_INVALID);
      await again.check({ result: OK, state: LICENSED });
    }),

    scene('a key without its entitlement does not run until the next check', async (stage) => {
      const { client } = await stage.openLicensed();
      await client.close();
      await stage.writeFile(JSON.stringify({ ...stage.readKept(), entitlement: null }));
      const again = await stage.open(ENTITLEMENT_INVALID);
      await again.check({ result: OK, state: LICENSED });
    }),

    scene('a refusal that another client kept counts', async (stage) => {
      const { client } = await stage.openLicensed();
      await client.close();
      const at = new Date(stage.startMs).toISOString();
      const refusal = { reason: 'license_refunded', at };
      await stage.writeFile(JSON.stringify({ ...stage.readKept(), refused: refusal }));
      const again = await stage.open(refused('license_refunded'));
      await again.check({ result: OK, state: LICENSED });
    }),

    scene('two programs in one folder do not destroy the file', async (stage) => {
      const { client } = await stage.openLicensed();
      const second = await stage.open(LICENSED_KEPT);
      for (let round = 0; round < 5; round++) {
        await Promise.all([client.check({ result: OK }), second.check({ result: OK })]);
      }
      // The requests of both arrive in any order.
      stage.transcript.clear();
      await stage.open(LICENSED_KEPT);
    }),

    scene('the explanation for support contains no secret', async (stage) => {
      const { client, license } = await stage.openLicensed();
      const { text = '' } = await client.do({ do: 'explain' }, { requests: [] });
      const { entitlement } = stage.readKept();
      const secrets = [
        license.key,
        license.key.slice(3),
        String(entitlement),
        stage.machine.machine_id,
      ];
      for (const secret of secrets)
        expect('the explanation contains a secret', !text.includes(secret));
      expect('the last group of the key is missing', text.includes(license.key.slice(-5)));
      expect('the state is missing', text.includes('licensed'));
    }),
  ],
};
