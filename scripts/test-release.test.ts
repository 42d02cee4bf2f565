import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { repository } from './lib/steps.ts';

describe('npm run test:release', () => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-test-release-'));
  after(() => rmSync(folder, { recursive: true }));

  /** Runs it with a file of tests, and further arguments. */
  function runWith(tests: string, ...further: readonly string[]) {
    const file = join(folder, 'invented.test.ts');
    writeFileSync(file, `import { describe, test } from 'node:test';\n${tests}`);
    // Inside of a test, Node.js would run no other.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const script = join(repository, 'scripts/test-release.ts');
    return spawnSync(process.execPath, [script, file, ...further], { encoding: 'utf8', env });
  }

  test('fails with the reasons when tests are skipped', () => {
    const { status, stdout } = runWith(`
      describe('the image', { skip: 'needs podman' }, () => test('starts', () => {}));
      test('the packages', (t) => t.skip('needs lintian'));
      test('the rest', () => {});`);
    assert.equal(status, 1, stdout);
    const reasons = stdout.split('the release is not tested:\n')[1];
    assert.equal(reasons, 'the image: needs podman\nthe packages: needs lintian\n');
  });

  test('accepts skipped tests with --if-possible', () => {
    const skipped = `test('the image', { skip: 'needs podman' }, () => {});`;
    const { status, stdout } = runWith(skipped, '--if-possible');
    assert.equal(status, 0, stdout);
  });

  test('fails when a test fails, and passes when all pass', () => {
    const failed = runWith(
      `test('the image', () => { throw new Error('invented'); });`,
      '--if-possible',
    );
    assert.equal(failed.status, 1, failed.stdout);
    const passed = runWith(`test('the image', () => {});`);
    assert.equal(passed.status, 0, passed.stdout);
  });

  test('starts no further file when its minutes have passed, and lists those that are left', () => {
    const left = 'scripts/release/test/npm.test.ts';
    const tests = `test('the image', () => {});`;
    const accepted = runWith(tests, '--minutes=0', '--if-possible', left);
    assert.equal(accepted.status, 0, accepted.stdout);
    assert.ok(accepted.stdout.includes(`Did not run in time: ${left}\n`), accepted.stdout);
    assert.equal(runWith(tests, '--minutes=0', left).status, 1);
  });
});
