/** The nightly backup of the Debian package of the service, on a booted system. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { Machine } from '../../../agent/test/systems/machine.ts';
import { findMissingRequirement } from '../../../agent/test/systems/requirements.ts';
import { readCommands } from '../../lib/document-commands.ts';
import { repository } from '../../lib/steps.ts';
import { packServiceDeb } from '../../package/service/service-deb.ts';
import { readVersion } from '../version.ts';
import { postFrom, START_TIMEOUT_MS, waitForHealth } from './booted-service.ts';
import { activateLicense, readKey } from './licensed-machine.ts';

const skip = findMissingRequirement() ?? false;

const BACKUPS = '/var/backups/latchkey';
const DOCUMENT = 'docs/operations/backup.md';
const UNITS = '/etc/systemd/system';

/** The timer as it is, but at once. */
const AT_ONCE = '[Timer]\nOnCalendar=\nOnActiveSec=1\nAccuracySec=1s\nRandomizedDelaySec=0\n';

describe('the backup timer of the Debian package', { skip }, () => {
  const resources = new AsyncDisposableStack();
  let machine: Machine;
  let version = '';

  const shell = (command: string) =>
    machine.succeed(['sh', '-euc', command], {
      env: { DEBIAN_FRONTEND: 'noninteractive' },
      timeoutMs: START_TIMEOUT_MS,
    });
  const install = () => shell(`dpkg --install /packages/${version}.deb`);
  const listBackups = async () =>
    (await shell(`ls ${BACKUPS}`)).split('\n').filter((name) => name !== '');
  const show = async (unit: string, property: string) =>
    (await shell(`systemctl show --property ${property} --value ${unit}`)).trim();

  before(async () => {
    const packages = await mkdtemp(join(tmpdir(), 'latchkey-release-'));
    resources.defer(() => rm(packages, { recursive: true, force: true }));
    version = await readVersion(repository);
    const { content } = await packServiceDeb(repository, version, 'x64');
    await writeFile(join(packages, `${version}.deb`), content);
    machine = resources.use(await Machine.boot('bookworm', [{ from: packages, to: '/packages' }]));
    await install();
    await waitForHealth(machine, version);
  });
  after(() => resources.disposeAsync());

  test('is installed and does not run', async () => {
    assert.equal(await show('latchkey-backup.timer', 'UnitFileState'), 'disabled');
    assert.equal(await show('latchkey-backup.timer', 'ActiveState'), 'inactive');
  });

  test('writes a backup that restores the licenses with the copy of the secret', async () => {
    const issued = await machine.succeed(['latchkey', 'license', 'issue', '--product=personal']);
    const licensed = await activateLicense(postFrom(machine), readKey(issued));
    machine.write(`${UNITS}/latchkey-backup.timer.d/at-once.conf`, AT_ONCE);
    await shell('systemctl daemon-reload; cp -p /var/lib/latchkey/secret /root/secret-copy');
    await shell('systemctl enable --now latchkey-backup.timer');
    const byTimer = `until ls ${BACKUPS}/latchkey-*.zst; do sleep 0.2; done`;
    const path = (await shell(byTimer)).trim();
    assert.match(path, /\/latchkey-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.zst$/);
    assert.equal(await shell(`stat -c '%U %a' ${path}`), 'latchkey 600\n');
    const journal = await shell('journalctl --unit latchkey-backup');
    assert.match(journal, /Keep a copy of \/var\/lib\/latchkey\/secret in another place/);

    await shell(`systemctl stop latchkey; mv /var/lib/latchkey /var/lib/latchkey.before
      install --directory --mode=700 --owner=latchkey --group=latchkey /var/lib/latchkey
      install --mode=600 --owner=latchkey --group=latchkey /root/secret-copy /var/lib/latchkey/secret
      latchkey restore ${path}; systemctl start latchkey; rm -r /var/lib/latchkey.before`);
    await waitForHealth(machine, version);
    assert.equal(await licensed.validate(), true);
  });

  test('starts as documented, also while the service is stopped, and keeps 14 backups', async () => {
    const [start = ''] = readCommands(DOCUMENT, 'Back up every night');
    await shell(start);
    await shell(
      'systemctl stop latchkey; systemctl start latchkey-backup; systemctl start latchkey',
    );
    assert.equal(await show('latchkey-backup', 'Result'), 'success');
    const [oldest = ''] = await listBackups();
    for (let day = 10; day < 30; day += 1) {
      await shell(`cp -p ${BACKUPS}/${oldest} ${BACKUPS}/latchkey-2020-01-${day}T03-00-00Z.zst`);
    }
    await shell(`cp -p ${BACKUPS}/${oldest} ${BACKUPS}/before-upgrade.zst`);
    await shell('systemctl start latchkey-backup');
    const kept = await listBackups();
    assert.deepEqual(
      [kept.length, kept.includes('before-upgrade.zst')],
      [14 + 1, true],
      kept.join(' '),
    );
  });

  test('stays enabled and running when the package is upgraded', async () => {
    await install();
    await waitForHealth(machine, version);
    assert.equal(await show('latchkey-backup.timer', 'UnitFileState'), 'enabled');
    assert.equal(await show('latchkey-backup.timer', 'ActiveState'), 'active');
  });

  test('notifies when no backup can be written, and keeps those that exist', async () => {
    const existing = await listBackups();
    machine.write(
      `${UNITS}/latchkey-backup.service.d/notify.conf`,
      '[Unit]\nOnFailure=latchkey-backup-failed.service\n',
    );
    machine.write(
      `${UNITS}/latchkey-backup-failed.service`,
      '[Service]\nType=oneshot\nExecStart=/usr/bin/touch /run/notified\n',
    );
    await shell(`systemctl daemon-reload; chmod 500 ${BACKUPS}`);
    const failed = await machine.attempt(['systemctl', 'start', 'latchkey-backup']);
    assert.notEqual(failed.code, 0);
    assert.match(await shell('journalctl --unit latchkey-backup'), /permission denied/);
    await shell('until [ -e /run/notified ]; do sleep 0.2; done');
    assert.deepEqual(await listBackups(), existing);
  });

  test('leaves nothing but data and backups when the package is purged', async () => {
    await shell(`rm -r ${UNITS}/latchkey-backup*; systemctl daemon-reload; dpkg --purge latchkey`);
    const left = await shell('find /etc /usr /var -xdev -path "*latchkey*" -prune');
    assert.deepEqual(left.trim().split('\n').toSorted(), [BACKUPS, '/var/lib/latchkey']);
  });
});
