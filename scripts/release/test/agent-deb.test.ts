/** Installs the Debian package of the agent on booted systems, and sets the agent up with its own installer. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import type { Cell } from '../../../agent/test/systems/cells.ts';
import { checkWire } from '../../../agent/test/systems/check-wire.ts';
import { expectSuccess } from '../../../agent/test/systems/commands.ts';
import { Installation } from '../../../agent/test/systems/installation.ts';
import type { Machine } from '../../../agent/test/systems/machine.ts';
import { findMissingRequirement } from '../../../agent/test/systems/requirements.ts';
import { RELEASES } from '../../../agent/test/systems/trees.ts';
import { repository } from '../../lib/steps.ts';
import { packAgentDeb } from '../../package/agent-deb.ts';
import { packAgent } from '../../package/pack-agent.ts';
import { readVersion } from '../version.ts';

const skip = findMissingRequirement() ?? false;

const PLACE = '/packages';

describe('the Debian package of the agent', { skip }, () => {
  let folder = '';
  let version = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-release-'));
    version = await readVersion(repository);
    for (const each of ['0.9.0', version]) {
      const { content } = await packAgentDeb(repository, each, 'x64');
      await writeFile(join(folder, `${each}.deb`), content);
    }
    await writeFile(join(folder, 'agent.tar.gz'), (await packAgent(repository)).archive);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  for (const release of ['bookworm', 'trixie'] as const) {
    test(`is set up, upgraded, removed and purged on ${RELEASES[release]}`, async () => {
      const cell: Cell = {
        release,
        webServer: 'nginx with the domain over https',
        mode: 'auto',
        mutualTls: false,
        expected: 'proxy',
      };
      const own = { version, command: 'latchkey-agent' };
      await using installation = await prepare(cell);
      const { machine } = installation;
      await dpkg(machine, '--install', `${PLACE}/0.9.0.deb`);
      assert.equal((await machine.attempt(['latchkey-agent', 'once'])).code, 0);
      expectSuccess(await installation.install(own));
      await checkWire(installation, null);
      await checkFiles(machine);

      await dpkg(machine, '--install', `${PLACE}/${version}.deb`);
      await machine.waitForUnit('latchkey-agent', 'active');
      await checkWire(installation, null);

      const refused = await machine.attempt(['dpkg', '--remove', 'latchkey-agent']);
      assert.notEqual(refused.code, 0);
      assert.match(refused.stderr, /latchkey-agent uninstall/);
      expectSuccess(await installation.uninstall());
      await checkFiles(machine);
      await dpkg(machine, '--purge', 'latchkey-agent');
      const left = ['find', '/etc', '/usr', '/var', '-xdev', '-path', '*latchkey*', '-prune'];
      assert.equal(await machine.succeed(left), '');
    });
  }

  test('and an installation from the archive do not replace each other', async () => {
    const cell: Cell = {
      release: 'trixie',
      webServer: 'nginx with the domain over https',
      mode: 'auto',
      mutualTls: false,
      expected: 'proxy',
    };
    await using installation = await prepare(cell);
    const { machine } = installation;
    await machine.succeed(['mkdir', '/root/agent']);
    await machine.succeed([
      'tar',
      '-xzf',
      `${PLACE}/agent.tar.gz`,
      '-C',
      '/root/agent',
      '--strip-components=1',
    ]);
    const unpacked = { version, command: '/root/agent/bin/latchkey-agent' };
    expectSuccess(await installation.install(unpacked));
    const second = await machine.attempt(['dpkg', '--install', `${PLACE}/${version}.deb`]);
    assert.match(second.stderr, /latchkey-agent uninstall/);
    expectSuccess(await installation.uninstall());

    await dpkg(machine, '--install', `${PLACE}/${version}.deb`);
    const third = await installation.install(unpacked);
    assert.equal(third.code, 1);
    assert.match(third.stdout + third.stderr, /Debian package/);
  });

  function prepare(cell: Cell): Promise<Installation> {
    const unused = { version, command: '' };
    return Installation.prepare(cell, {
      current: unused,
      next: unused,
      binds: [{ from: folder, to: PLACE }],
      [Symbol.dispose]: () => undefined,
    });
  }
});

function dpkg(machine: Machine, ...args: readonly string[]): Promise<string> {
  return machine.succeed(['dpkg', ...args], { env: { DEBIAN_FRONTEND: 'noninteractive' } });
}

/** dpkg compares its files with their checksums, and prints those that changed. */
async function checkFiles(machine: Machine): Promise<void> {
  assert.equal(await machine.succeed(['dpkg', '--verify', 'latchkey-agent']), '');
}
