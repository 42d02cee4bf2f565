import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, describe, test } from 'node:test';

import { repository } from '../lib/steps.ts';
import { ReleaseError } from './release-error.ts';
import { setVersion } from './set-version.ts';
import { readVersion } from './version.ts';

const FILES = /^(?:package(?:-lock)?\.json|pom\.xml|_version\.py|Cargo\.(?:toml|lock)|.*\.csproj)$/;

describe('the version of a release', () => {
  const root = mkdtempSync(join(tmpdir(), 'latchkey-version-'));
  for (const folder of ['agent', 'clients', 'console', 'contract', 'examples', 'server']) {
    copyManifests(folder);
  }
  copyManifests('package.json');
  copyManifests('package-lock.json');
  after(() => rmSync(root, { recursive: true }));

  function copyManifests(path: string): void {
    const listed = execFileSync('git', ['ls-files', '-z', path], { cwd: repository });
    for (const name of String(listed).split('\0')) {
      if (FILES.test(basename(name))) cpSync(join(repository, name), join(root, name));
    }
  }

  test('is written into manifests that npm ci accepts', async () => {
    await setVersion(root, '9.8.7');
    assert.equal(await readVersion(root), '9.8.7');
    execFileSync('npm', ['ci', '--dry-run', '--offline', '--ignore-scripts'], {
      cwd: root,
      stdio: 'pipe',
    });
    const others = [
      'clients/csharp/Latchkey.Client.csproj',
      'clients/java/pom.xml',
      'clients/python/src/latchkey_client/_version.py',
      'clients/rust/Cargo.toml',
      'clients/rust/Cargo.lock',
      'examples/tauri/license/Cargo.lock',
    ];
    for (const name of others)
      assert.match(readFileSync(join(root, name), 'utf8'), /9\.8\.7/, name);
  });

  test('is rejected when it is none', async () => {
    await assert.rejects(setVersion(root, 'minor'), ReleaseError);
  });
});
