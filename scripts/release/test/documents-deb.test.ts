/** Runs the commands of packages.md and backup.md for the Debian package on a booted system, as they are written. */
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
import { readKey } from './licensed-machine.ts';

const skip = findMissingRequirement() ?? false;

const TIMEOUT_MS = 240_000;

const PACKAGES = 'docs/operations/packages.md';
const BACKUP = 'docs/operations/backup.md';

describe('the documented commands of the Debian package', { skip }, () => {
  let folder = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-release-'));
    const version = await readVersion(repository);
    const { name, content } = await packServiceDeb(repository, version, 'x64');
    await writeFile(join(folder, name), content);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('install the service, issue a license, and restore it from a backup', async () => {
    await using machine = await Machine.boot('trixie', [{ from: folder, to: '/packages' }]);
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
});

/** Runs commands; with the package, `npx latchkey` of a clone is `latchkey`. */
function run(machine: Machine, commands: string, directory = '/packages'): Promise<string> {
  const script = `cd ${directory}\n${commands.replaceAll('npx latchkey', 'latchkey')}`;
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  return machine.succeed(['sh', '-euc', script], { env, timeoutMs: TIMEOUT_MS });
}
