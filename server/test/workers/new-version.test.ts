import assert from 'node:assert/strict';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { eventually } from '../eventually.ts';
import { createExternalHome, type ExternalHome } from '../external-service.ts';
import { failuresOf, issueForLoad } from '../faults/loaded-service.ts';
import { startRecordedLoad } from '../faults/recorded-load.ts';
import { verifyLedger } from '../faults/verify-ledger.ts';
import type { ServiceProcess } from '../service-process.ts';
import { waitForBothWorkers } from './both-workers.ts';
import { lacksWorkers } from './lacks-workers.ts';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const NEW_VERSION = '99.0.0';
const MIGRATION = 'create table of_the_new_version (id integer primary key);';

/** Copies the program, whose version the test changes; links installed packages, except the workspaces. */
async function copyProgram(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'latchkey-version-'));
  await chmod(copy, 0o755);
  for (const part of ['server/src', 'server/package.json', 'contract', 'catalog.example.yaml']) {
    await cp(join(REPOSITORY, part), join(copy, part), { recursive: true });
  }
  await mkdir(join(copy, 'node_modules/@latchkey'), { recursive: true });
  for (const name of await readdir(join(REPOSITORY, 'node_modules'))) {
    const from = join(REPOSITORY, 'node_modules', name);
    if (name !== '@latchkey') await symlink(from, join(copy, 'node_modules', name));
  }
  await symlink('../../contract', join(copy, 'node_modules/@latchkey/contract'));
  return copy;
}

/** Installs another version in place of the running one. */
async function installNewVersion(copy: string): Promise<void> {
  const manifest = join(copy, 'server/package.json');
  const text = await readFile(manifest, 'utf8');
  await writeFile(manifest, text.replace(/"version": "[^"]*"/u, `"version": "${NEW_VERSION}"`));
  await writeFile(join(copy, 'server/src/db/migrations/0999_new_version.sql'), MIGRATION);
}

async function readVersion(service: ServiceProcess): Promise<string> {
  const response = await fetch(`${service.url}/api/v1/health/live`, {
    headers: { connection: 'close' },
  });
  return /"version":"([^"]*)"/u.exec(await response.text())?.[1] ?? '';
}

describe('a rolling restart', { skip: lacksWorkers }, () => {
  let copy: string;
  let external: ExternalHome;
  let service: ServiceProcess;

  before(async () => {
    copy = await copyProgram();
    external = await createExternalHome(join(copy, 'server/src/main.ts'));
    service = await external.start({}, ['--workers', '2']);
    await waitForBothWorkers(service);
  });
  after(async () => {
    await external[Symbol.asyncDispose]();
    await rm(copy, { recursive: true });
  });

  test('changes to a new version, which migrates the database once, without a failed request', async () => {
    const previous = await readVersion(service);
    const keys = await issueForLoad(external.home, external.settings);
    await using load = startRecordedLoad(async () => service.url, keys);
    await load.waitForAnswers(50);
    await installNewVersion(copy);
    service.send('SIGUSR2');
    await service.waitForLine(/"database\.migrated","migrations":\["0999_new_version"\]/u);
    // The other worker of the old version continues with the new schema.
    const requests = load.ledger.outcomes.length;
    await eventually(() => load.ledger.outcomes.length > requests + 50);
    await service.waitForLine(/"workers\.rolling_restart_completed"/u);
    const ledger = await load.stop();
    assert.deepEqual(failuresOf(ledger.outcomes), []);
    await verifyLedger(service.url, ledger);
    assert.notEqual(previous, NEW_VERSION);
    const versions = [await readVersion(service), await readVersion(service)];
    assert.deepEqual(versions, [NEW_VERSION, NEW_VERSION]);
    const migrated = service.lines.filter((line) => line.includes('0999_new_version'));
    assert.equal(migrated.length, 1);
  });

  test('leaves the workers as they are when the new version does not start', async () => {
    await writeFile(join(copy, 'server/src/serve.ts'), 'this is no program');
    service.send('SIGUSR2');
    await service.waitForLine(/"workers\.rolling_restart_failed"/u);
    assert.deepEqual(
      [await readVersion(service), await readVersion(service)],
      [NEW_VERSION, NEW_VERSION],
    );
    assert.deepEqual(await service.stop(), { code: 0, signal: null });
  });
});
