/**
 * Upgrades the data of earlier releases with the package of this one, and then with that of an invented next one, as
 * docs/operations/install.md describes: back up, migrate, start; to go back, restore the backup with the old version.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { countRows, findDifferences, readBackupRows } from '../../upgrade/backup-rows.ts';
import { type Fixture, readFixtures } from '../../upgrade/fixture.ts';
import {
  NEXT_VERSION,
  type ServicePackages,
  writePackages,
} from '../../upgrade/service-packages.ts';
import { Installation } from './installation.ts';

const directory = await mkdtemp(join(tmpdir(), 'latchkey-upgrade-'));
let packages: ServicePackages;

before(async () => {
  packages = await writePackages(directory);
});
after(() => rm(directory, { recursive: true, force: true }));

for (const fixture of await readFixtures()) {
  describe(`the data of ${fixture.version}`, () => testUpgrade(fixture));
}

function testUpgrade(fixture: Fixture): void {
  let installation: Installation<'present' | 'next'>;
  /** Backups from before and after the upgrade to the next release. */
  let [previous, upgraded] = ['', ''];

  before(async () => {
    const { present, next } = packages;
    const versions = new Map([
      ['present', present],
      ['next', next],
    ] as const);
    installation = await Installation.open(fixture, versions);
  });
  after(() => installation?.[Symbol.asyncDispose]());

  test('has rows in every table', async () => {
    const counts = countRows(await readBackupRows(fixture.backup));
    assert.deepEqual(counts, fixture.tables);
    const empty = Object.keys(counts).filter((name) => counts[name] === 0);
    assert.deepEqual(empty, []);
  });

  test('keeps every row in this release', async () => {
    await installation.run('present', 'restore', fixture.backup);
    const restored = await installation.backUp('present', 'restored');
    assert.deepEqual(await compare(fixture.backup, restored), []);
  });

  test('works in this release', (t) => installation.check(t, 'present'));

  test('keeps every row in the next release', async () => {
    previous = await installation.backUp('present', 'previous');
    assert.match(await installation.run('next', 'migrate'), new RegExp(packages.migration));
    upgraded = await installation.backUp('next', 'upgraded');
    assert.deepEqual(await compare(previous, upgraded), []);
    const licenses = (await readBackupRows(upgraded)).get('licenses');
    assert.ok(licenses?.columns.includes('next_release'), 'the column was not added');
  });

  test('is refused by this release after the upgrade, in one sentence, and not changed', async () => {
    const sentence = `latchkey: The database has migration ${packages.migration}, which this program does not know: it belongs to a newer version. Start that version.`;
    const { code, output } = await installation.runToEnd('present');
    assert.deepEqual([code, output], [78, sentence]);
    const issue = installation.run('present', 'license', 'issue', '--product', 'home');
    await assert.rejects(issue, { code: 78, stderr: `${sentence}\n` });
    const refused = await installation.backUp('next', 'refused');
    assert.deepEqual(await compare(upgraded, refused), []);
  });

  test('works in the next release', async (t) => {
    assert.equal(await installation.run('next', '--version'), `${NEXT_VERSION}\n`);
    await installation.check(t, 'next');
  });

  test('works in this release again, restored from the backup before the upgrade', async (t) => {
    await installation.useNewDirectory('restored');
    await assert.rejects(installation.run('present', 'restore', upgraded), {
      code: 1,
      stderr: new RegExp(`whose migration ${packages.migration} this version does not know`),
    });
    await installation.run('present', 'restore', previous);
    const restored = await installation.backUp('present', 'rolled-back');
    assert.deepEqual(await compare(previous, restored), []);
    await installation.check(t, 'present');
  });
}

/** Returns the differences between two backups. */
async function compare(earlier: string, later: string): Promise<string[]> {
  return findDifferences(await readBackupRows(earlier), await readBackupRows(later));
}
