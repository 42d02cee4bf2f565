import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { repository } from '../lib/steps.ts';
import { ReleaseError } from './release-error.ts';
import { setVersion } from './set-version.ts';
import { readVersion } from './version.ts';

/** The folders of files that name the version. */
const FOLDERS = ['agent', 'clients', 'console', 'contract', 'examples', 'server'];
const MANIFEST = /(?:^|\/)(?:package(?:-lock)?\.json|Cargo\.lock)$/;

/** Versions of the programs of examples and tests, and files of dependencies. */
const FOREIGN = /(?:app|get)_?version/i;
const LOCK_FILE = /lock$/;

/** `latchkey-1.1.0.tgz`, `latchkey-image-1.1.0-amd64.tar` */
const FILE_NAMES = /latchkey[\w-]*?[-_]\d+\.\d+\.\d+[\w.-]*/g;

function listTracked(...paths: readonly string[]): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', ...paths], { cwd: repository });
  return String(listed)
    .split('\0')
    .filter((name) => name !== '');
}

describe('the version of a release', () => {
  const root = mkdtempSync(join(tmpdir(), 'latchkey-version-'));
  const ofClients = listTracked('clients');
  const documents = listTracked('*.md').filter((name) => name !== 'RELEASING.md');
  const read = (name: string): string => readFileSync(join(root, name), 'utf8');
  let current = '';

  before(async () => {
    current = await readVersion(repository);
    const manifests = listTracked('package.json', 'package-lock.json', ...FOLDERS);
    const copied = [...manifests.filter((each) => MANIFEST.test(each)), ...ofClients, ...documents];
    for (const name of copied) {
      cpSync(join(repository, name), join(root, name));
    }
    await setVersion(root, '9.8.7-rc.1');
    await setVersion(root, '9.8.7');
  });
  after(() => rmSync(root, { recursive: true }));

  test('is written into manifests that npm ci accepts', async () => {
    assert.equal(await readVersion(root), '9.8.7');
    execFileSync('npm', ['ci', '--dry-run', '--offline', '--ignore-scripts'], {
      cwd: root,
      stdio: 'pipe',
    });
    for (const name of ['clients/rust/Cargo.lock', 'examples/tauri/license/Cargo.lock']) {
      assert.match(read(name), /name = "latchkey-client"\nversion = "9\.8\.7"/, name);
    }
  });

  test('is written into every file of a client that names it', () => {
    const old = new RegExp(`(?<![\\d.])${RegExp.escape(current)}(?![\\d.])`);
    const found = ofClients
      .filter((name) => !LOCK_FILE.test(name))
      .flatMap((name) =>
        read(name)
          .split('\n')
          .map((line) => `${name}: ${line}`),
      )
      .filter((line) => old.test(line) && !FOREIGN.test(line));
    assert.deepEqual(found, []);
  });

  test('is written into every name of a file of the release in a document', () => {
    const names = documents.flatMap((name) => read(name).match(FILE_NAMES) ?? []);
    assert.ok(names.length > 5);
    assert.deepEqual(
      names.filter((name) => !name.includes('9.8.7')),
      [],
    );
  });

  test('is rejected when it is none', async () => {
    await assert.rejects(setVersion(root, 'minor'), ReleaseError);
  });
});
