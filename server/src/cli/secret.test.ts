import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { createPool } from '#server/db/pool.ts';

import { runLatchkey } from '../../test/command-line.ts';
import { eventually } from '../../test/eventually.ts';
import { COMMAND_LINE_SECRET, openCommandLine } from '../../test/test-command-line.ts';

const NEW_SECRET = 'another-secret-for-the-tests-of-the-command-line';

const { databaseUrl, directory, run: runBefore } = await openCommandLine();

function runWith(secrets: Readonly<Record<string, string>>, ...args: string[]) {
  return runLatchkey(args, { directory, settings: { DATABASE_URL: databaseUrl, ...secrets } });
}

const both = { LATCHKEY_SECRET: NEW_SECRET, LATCHKEY_PREVIOUS_SECRETS: COMMAND_LINE_SECRET };

test('rewrites a database under a new master secret once every process knows it', async () => {
  const issued = await runBefore('license', 'issue', '--product', 'personal');
  assert.equal(issued.code, 0, issued.stderr);
  const [key = ''] = issued.stdout.split('\n');

  const counted = await runWith(both, 'secret', 'rotate', '--dry-run', '--json');
  assert.equal(counted.code, 0, counted.stderr);
  const { rewritten, stored } = JSON.parse(counted.stdout);
  assert.equal(rewritten, null);
  assert.deepEqual(
    stored.map((row: { kind: string; secret: string }) => [row.kind, row.secret]),
    [
      ['licenses', 'previous'],
      ['license_keys', 'previous'],
      ['signing_keys', 'previous'],
    ],
  );

  // The connection of a process that was started before the secret was replaced.
  const log = { warn: () => {} };
  const outdated = createPool({ url: databaseUrl }, { maxConnections: 1, log, secretIds: ['abc'] });
  after(() => (outdated.ended ? undefined : outdated.end()));
  await outdated.query('select 1');
  const refused = await runWith(both, 'secret', 'rotate');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /\brestart\b/u);
  await outdated.end();

  // PostgreSQL lists a connection for a moment after its end.
  let rotated = refused;
  await eventually(async () => {
    rotated = await runWith(both, 'secret', 'rotate', '--json');
    return rotated.code === 0 || !/\brestart\b/u.test(rotated.stderr);
  });
  assert.equal(rotated.code, 0, rotated.stderr);
  const { failed, licenses } = JSON.parse(rotated.stdout).rewritten;
  assert.deepEqual([failed, licenses], [0, 1]);

  const alone = { LATCHKEY_SECRET: NEW_SECRET };
  const shown = await runWith(alone, 'license', 'show', key);
  assert.equal(shown.code, 0, shown.stderr);
  const recounted = await runWith(alone, 'secret', 'rotate', '--dry-run', '--json');
  const secrets = JSON.parse(recounted.stdout).stored.map((row: { secret: string }) => row.secret);
  assert.deepEqual(new Set(secrets), new Set(['current']));
});

test('rejects --new for a secret of the settings, and together with --dry-run', async () => {
  const fromSettings = await runWith(both, 'secret', 'rotate', '--new');
  assert.match(fromSettings.stderr, /LATCHKEY_PREVIOUS_SECRETS/u);
  const dry = await runWith({}, 'secret', 'rotate', '--new', '--dry-run');
  assert.match(dry.stderr, /--dry-run/u);
  assert.deepEqual([fromSettings.code, dry.code], [1, 1]);
});
