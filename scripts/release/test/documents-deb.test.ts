/** Runs the commands of packages.md and backup.md for the Debian package on a booted system, as they are written. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { expectSuccess, type Outcome } from '../../../agent/test/systems/commands.ts';
import { Machine } from '../../../agent/test/systems/machine.ts';
import { findMissingRequirement } from '../../../agent/test/systems/requirements.ts';
import { readCommands } from '../../lib/document-commands.ts';
import { repository } from '../../lib/steps.ts';
import { toDebianVersion } from '../../package/deb/pack-deb.ts';
import { packServiceDeb } from '../../package/service/service-deb.ts';
import { changeToNextRelease, NEXT_VERSION } from '../upgrade/service-packages.ts';
import { readVersion } from '../version.ts';
import { postFrom, waitForHealth } from './booted-service.ts';
import { activateLicense, readKey } from './licensed-machine.ts';

const skip = findMissingRequirement() ?? false;

const TIMEOUT_MS = 240_000;

const PACKAGES = 'docs/operations/packages.md';
const BACKUP = 'docs/operations/backup.md';

/** Where the package of the next release is built; the directory of the packages is read-only. */
const NEXT_PACKAGES = '/srv';

describe('the documented commands of the Debian package', { skip }, () => {
  const resources = new AsyncDisposableStack();
  let machine: Machine;
  let name = '';
  let version = '';

  before(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-release-'));
    resources.defer(() => rm(folder, { recursive: true, force: true }));
    version = await readVersion(repository);
    const packed = await packServiceDeb(repository, version, 'x64');
    name = packed.name;
    await writeFile(join(folder, name), packed.content);
    machine = resources.use(await Machine.boot('trixie', [{ from: folder, to: '/packages' }]));
  });
  after(() => resources.disposeAsync());

  test('install the service, issue a license, and restore it from a backup', async () => {
    const [install = ''] = readCommands(PACKAGES, 'The service on Debian');
    const printed = await run(machine, install);
    const hint = readKey(printed).slice(-4);

    const [write = ''] = readCommands(BACKUP, 'Write a backup');
    await run(machine, write);
    await run(machine, 'cp /var/lib/latchkey/secret secret-copy', '/root');
    const [stop = '', copySecret = '', restore = ''] = readCommands(BACKUP, 'Restore a backup');
    await run(machine, stop);
    await run(machine, copySecret, '/root');
    const today = (await run(machine, 'date +%F')).trim();
    await run(machine, restore.replaceAll(/\d{4}-\d\d-\d\d/g, today));
    const [wait = ''] = /^curl .*$/m.exec(install) ?? [];
    await run(machine, wait);
    const listed = await run(machine, 'latchkey license list --json');
    assert.match(listed, new RegExp(`"key_hint": "${hint}"`));

    const [tryOut = ''] = readCommands(BACKUP, 'Test a backup');
    const [make = '', copy = '', ...rest] = tryOut.split('\n');
    const commands = [make, copy, 'chown -R latchkey /tmp/try', ...rest].join('\n');
    const key = readKey(printed);
    const dated = commands.replaceAll(/\d{4}-\d\d-\d\d/g, today);
    const tried = await run(machine, dated.replace('<a key that you know>', key), '/root');
    assert.match(tried, new RegExp(`\\b${hint}\\b`));
  });

  test('upgrade the service, and roll it back with its data', async () => {
    const migration = await buildNextDeb(machine, name);
    const insertVersions = (commands: string) =>
      commands.replaceAll('OLD', toDebianVersion(version)).replaceAll('NEW', NEXT_VERSION);
    const documented = readCommands(PACKAGES, 'The service on Debian').map(insertVersions);
    const [, upgrade = '', downgrade = '', restore = ''] = documented;
    const issue = () => run(machine, 'latchkey license issue --product personal');
    const licensed = await activateLicense(postFrom(machine), readKey(await issue()));
    const backedUp = await run(machine, 'latchkey license list --json');
    await run(machine, upgrade, NEXT_PACKAGES);
    await waitForHealth(machine, NEXT_VERSION);
    assert.equal(await licensed.validate(), true);
    await issue();

    const failed = await attempt(machine, downgrade, '/packages', 'y\n');
    assert.equal(failed.code, 100);
    assert.match(failed.stdout, /latchkey could not be started: see "journalctl -u latchkey"/);
    const refusal = new RegExp(`${migration}, which this program does not know`);
    assert.match(await run(machine, 'journalctl -u latchkey'), refusal);
    assert.match((await attempt(machine, 'latchkey doctor')).stdout, refusal);

    await run(machine, restore);
    await waitForHealth(machine, version);
    assert.equal(await licensed.validate(), true);
    assert.equal(await run(machine, 'latchkey license list --json'), backedUp);
    assert.match(await run(machine, 'dpkg --status latchkey'), /^Status: install ok installed$/m);
  });
});

/**
 * Builds the package of an invented next release, whose schema is newer, from that of this one.
 * @param name the file of this one
 * @returns the name of its migration
 */
async function buildNextDeb(machine: Machine, name: string): Promise<string> {
  const tree = join(NEXT_PACKAGES, 'next');
  await run(machine, `dpkg-deb --raw-extract ${name} ${tree}`);
  const migration = await changeToNextRelease(machine.outside(join(tree, 'usr/lib/latchkey')));
  const control = join(tree, 'DEBIAN/control');
  const fields = machine.read(control).replace(/^Version: .*$/m, `Version: ${NEXT_VERSION}`);
  machine.write(control, fields);
  // Compression would take longer.
  await run(
    machine,
    `dpkg-deb -Znone --build next latchkey_${NEXT_VERSION}_amd64.deb`,
    NEXT_PACKAGES,
  );
  return migration;
}

/** Runs commands that must succeed, and returns their standard output. */
async function run(machine: Machine, commands: string, directory?: string): Promise<string> {
  return expectSuccess(await attempt(machine, commands, directory)).stdout;
}

/** Runs commands; with the package, `npx latchkey` of a clone is `latchkey`. @param answers to their questions */
function attempt(
  machine: Machine,
  commands: string,
  directory = '/packages',
  answers = '',
): Promise<Outcome> {
  const script = `cd ${directory}\n${commands.replaceAll('npx latchkey', 'latchkey')}`;
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env, timeoutMs: TIMEOUT_MS, input: answers };
  return machine.attempt(['sh', '-euc', script], options);
}
