import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { repository } from '../../lib/steps.ts';
import { renderUnit, UNITS } from './units.ts';

const directory = await mkdtemp(join(tmpdir(), 'latchkey-units-'));
after(() => rm(directory, { recursive: true }));

const skip =
  spawnSync('systemd-analyze', ['--version']).status === 0 ? false : 'needs systemd-analyze';

const readUnit = (name: string) => readFile(join(repository, 'deploy', name), 'utf8');

const forms = {
  clone: readUnit,
  'Debian package': (name: (typeof UNITS)[number]) => renderUnit(repository, name),
};

describe('systemd accepts the units', { skip }, () => {
  for (const [form, read] of Object.entries(forms)) {
    test(`of the ${form}`, async () => {
      for (const name of UNITS) {
        // The started programs must exist, and do not on every machine that runs this test.
        const text = (await read(name)).replaceAll(/^(Exec\w+)=\S+/gm, '$1=/bin/true');
        await writeFile(join(directory, name), text);
      }
      const files = UNITS.map((name) => join(directory, name));
      const verify = ['verify', '--man=no', '--recursive-errors=no', ...files];
      const { status, stderr } = spawnSync('systemd-analyze', verify, { encoding: 'utf8' });
      const own = stderr.split('\n').filter((line) => line.includes('latchkey'));
      assert.deepEqual([status, own], [0, []]);
    });
  }
});

/** Restrictions of a service, in the order of the file. */
function listRestrictions(unit: string): string[] {
  const names =
    /^(?:\w*Protect|Private|Restrict|SystemCall|Capability|Ambient|Lock|NoNew|UMask).*$/gm;
  return Array.from(unit.matchAll(names), ([line]) => line);
}

test('the backup is restricted as the service is', async () => {
  const service = listRestrictions(await readUnit('latchkey.service'));
  assert.ok(service.length > 20);
  assert.deepEqual(listRestrictions(await readUnit('latchkey-backup.service')), service);
});

test('the backup of the Debian package runs its starter, with the directory that it may write to', async () => {
  const unit = await renderUnit(repository, 'latchkey-backup.service');
  assert.match(
    unit,
    /^ExecStart=\/usr\/lib\/latchkey\/bin\/latchkey backup --keep 14 \/var\/backups\/latchkey$/m,
  );
  assert.match(unit, /^ReadWritePaths=\/var\/backups\/latchkey$/m);
  assert.doesNotMatch(unit, /\/opt\/|RemoveIPC=yes/);
});
