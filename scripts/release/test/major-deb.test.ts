/** Replaces the Debian package of a release with PostgreSQL 17 by packages of this release, with its data. */
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
import { packServiceDeb } from '../../package/service/service-deb.ts';
import { collectServiceTree } from '../../package/service/service-tree.ts';
import { lacksEarlierPostgres, withEarlierPostgres } from '../upgrade/earlier-postgres.ts';
import { readVersion } from '../version.ts';
import { postFrom, waitForHealth } from './booted-service.ts';
import { activateLicense, type LicensedMachine, readKey } from './licensed-machine.ts';

const skip = findMissingRequirement() ?? (await lacksEarlierPostgres());

const OLD_VERSION = '0.9.0';
const TIMEOUT_MS = 240_000;
const DATA = '/var/lib/latchkey';

describe('the Debian package on data of PostgreSQL 17', { skip }, () => {
  const resources = new AsyncDisposableStack();
  let machine: Machine;
  let licensed: LicensedMachine;
  let version = '';

  before(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-release-'));
    resources.defer(() => rm(folder, { recursive: true, force: true }));
    version = await readVersion(repository);
    const [old, present] = [await collect(OLD_VERSION), await collect(version)];
    const packages = {
      old: { ...old, entries: await withEarlierPostgres(old.entries, 'instead') },
      alone: present,
      both: { ...present, entries: await withEarlierPostgres(present.entries, 'beside') },
    };
    for (const [name, tree] of Object.entries(packages)) {
      const of = name === 'old' ? OLD_VERSION : version;
      const { content } = await packServiceDeb(repository, of, 'x64', tree);
      await writeFile(join(folder, `${name}.deb`), content);
    }
    machine = resources.use(await Machine.boot('trixie', [{ from: folder, to: '/packages' }]));
    await expectInstalled('old');
    await waitForHealth(machine, OLD_VERSION);
    const issued = await machine.succeed(['latchkey', 'license', 'issue', '--product=personal']);
    licensed = await activateLicense(postFrom(machine), readKey(issued));
    assert.equal(machine.read(`${DATA}/postgres/PG_VERSION`), '17\n');
  });
  after(() => resources.disposeAsync());

  const install = (name: string): Promise<Outcome> => {
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    const command = ['dpkg', '--install', `/packages/${name}.deb`];
    return machine.attempt(command, { env, timeoutMs: TIMEOUT_MS });
  };
  const expectInstalled = async (name: string): Promise<string> =>
    expectSuccess(await install(name)).stdout;

  test('is refused before the old program is gone, when it cannot read the data', async () => {
    const refused = await install('alone');
    assert.notEqual(refused.code, 0);
    assert.match(
      refused.stderr,
      /^latchkey: the database in \/var\/lib\/latchkey\/postgres is of PostgreSQL 17, .*: install postgresql-17 first/m,
    );
    await waitForHealth(machine, OLD_VERSION);
    assert.equal(await licensed.validate(), true);
    assert.match(await machine.succeed(['dpkg', '--audit']), /^$/);
  });

  test('moves the data when it has the earlier programs, and keeps the old data', async () => {
    assert.match(await expectInstalled('both'), /Moving the database .* to PostgreSQL 18/);
    await waitForHealth(machine, version);
    assert.equal(machine.read(`${DATA}/postgres/PG_VERSION`), '18\n');
    assert.equal(await licensed.validate(), true);
    const owners = await machine.succeed(['sh', '-c', `stat -c %U ${DATA}/*`]);
    assert.deepEqual([...new Set(owners.trim().split('\n'))], ['latchkey']);
    const log = await machine.succeed(['latchkey', 'audit', 'list', '--json']);
    assert.match(log, /database\.upgrade/);
  });

  test('is rolled back to the old data by the documented commands', async () => {
    const refused = await install('old');
    assert.notEqual(refused.code, 0);
    assert.match(
      refused.stderr,
      /is of PostgreSQL 18, .*: install the newer version of latchkey\./,
    );
    await waitForHealth(machine, version);
    const [back = ''] = readCommands(
      'docs/operations/packages.md',
      'A new major version of PostgreSQL',
    );
    const date = (await machine.succeed(['date', '+%F'])).trim();
    const commands = back
      .replaceAll('DATE', date)
      .replace(/^apt-get .*$/m, 'dpkg --install /packages/old.deb');
    await machine.succeed(['sh', '-euc', commands], { timeoutMs: TIMEOUT_MS });
    await waitForHealth(machine, OLD_VERSION);
    assert.equal(machine.read(`${DATA}/postgres/PG_VERSION`), '17\n');
    assert.equal(await licensed.validate(), true);
  });
});

function collect(version: string) {
  return collectServiceTree(repository, version, 'x64');
}
