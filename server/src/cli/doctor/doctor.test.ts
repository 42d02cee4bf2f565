import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { runLatchkey } from '../../../test/command-line.ts';
import { openCommandLine } from '../../../test/test-command-line.ts';

const empty = mkdtempSync(join(tmpdir(), 'latchkey-doctor-'));
after(() => rmSync(empty, { recursive: true }));

const { databaseUrl, directory, run, runJson } = await openCommandLine();

test('finds no problem in an empty directory, and creates nothing', async () => {
  const { code, stdout, stderr } = await runLatchkey(['doctor', '--json'], { directory: empty });
  assert.deepEqual([code, stderr], [0, '']);
  const { healthy, findings } = JSON.parse(stdout);
  assert.equal(healthy, true);
  assert.deepEqual(
    findings.map(({ check, status }: { check: string; status: string }) => `${check}: ${status}`),
    [
      'configuration: ok',
      'catalogue: ok',
      'public URL: ok',
      'data directory: ok',
      'disk space: ok',
      'port: ok',
      'database: ok',
    ],
  );
  assert.deepEqual(readdirSync(empty), []);
});

test('prints symptom, cause and fix of each problem, and continues after each', async () => {
  const { code, stdout } = await runLatchkey(['doctor'], {
    directory: empty,
    settings: {
      LATCHKEY_CATALOG: '/nowhere/catalog.yaml',
      LATCHKEY_HOST: '0.0.0.0',
      DATABASE_URL: databaseUrl.replace(/\/test_\w+/u, '/missing'),
      LATCHKEY_SECRET: 'abcdefghijklmnopqrstuvwxyz012345',
    },
  });
  assert.equal(code, 1);
  assert.match(stdout, /^✗ catalogue: .*\n +cause: .*\/nowhere\/catalog\.yaml.*\n +fix: +\S/mu);
  assert.match(stdout, /^! public URL: .*http:\/\/localhost:0/mu);
  assert.match(stdout, /^✗ database: .*\n +cause: .*missing.*\n +fix: +\S/mu);
});

test('finds a wrong master secret', async () => {
  assert.equal((await run('license', 'issue', '--product', 'personal')).code, 0);
  assert.equal((await runJson('doctor')).healthy, true);
  const wrong = await runLatchkey(['doctor', '--json'], {
    directory,
    settings: {
      DATABASE_URL: databaseUrl,
      LATCHKEY_SECRET: 'another-secret-than-the-one-that-was-used',
    },
  });
  assert.equal(wrong.code, 1);
  const { findings } = JSON.parse(wrong.stdout);
  const failed = findings.filter(({ status }: { status: string }) => status === 'failed');
  assert.deepEqual(
    failed.map(({ code }: { code: string }) => code),
    ['signing_keys.wrong_master_secret'],
  );
});
