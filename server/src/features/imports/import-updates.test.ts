import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { startTestService } from '../../../test/harness.ts';
import { CATALOG, testCatalog } from '../../../test/test-catalog.ts';
import { changeUpdates } from '../licenses/change-license.ts';
import { readFile } from './files/read-file.ts';
import { importLicenses } from './import-licenses.ts';
import { readMapping } from './rules/map-product.ts';

const DAY_MS = 86_400_000;
const catalog = testCatalog(
  CATALOG.replace('tier: personal', 'tier: personal\n    updates_days: 365'),
);
const { context, clock, pool } = await startTestService({ catalog });

async function importCsv(text: string) {
  const file = async function* () {
    yield Buffer.from(text);
  };
  const rows = readFile({ source: 'csv', file, related: [], columns: [] });
  const { report } = await importLicenses(context, rows, {
    source: 'csv',
    origin: 'keys.csv',
    mapping: readMapping([['*', 'personal']], catalog),
    actor: 'test',
    reason: 'the move',
    dryRun: false,
  });
  return report;
}

async function readUpdates(email: string) {
  const { rows } = await pool.query<{ id: string; updates_until: Date | null }>(
    'select id, updates_until from licenses where customer_email = $1',
    [email],
  );
  return rows[0] ?? assert.fail(`no license of ${email}`);
}

test('a row sets the end of updates, an empty one all updates; without the column they follow the product', async () => {
  const keys = Array.from({ length: 3 }, () => randomUUID().toUpperCase());
  const dated = `license_key,customer_email,updates_until\n${keys[0]},dated@example.com,2027-05-06\n${keys[1]},all@example.com,\n`;
  assert.equal((await importCsv(dated)).outcomes.new, 2);
  const bought = new Date(clock.now().getTime() - 100 * DAY_MS);
  const plain = `license_key,customer_email,created_at\n${keys[2]},plain@example.com,${bought.toISOString()}\n`;
  assert.equal((await importCsv(plain)).outcomes.new, 1);

  const license = await readUpdates('dated@example.com');
  assert.deepEqual(license.updates_until, new Date('2027-05-06T00:00:00Z'));
  assert.equal((await readUpdates('all@example.com')).updates_until, null);
  assert.deepEqual(
    (await readUpdates('plain@example.com')).updates_until,
    new Date(bought.getTime() + 365 * DAY_MS),
  );
  const change = { keyOrId: license.id, actor: 'test', reason: 'paid by invoice' };
  const extended = await changeUpdates(context, change, { days: 10 });
  assert.deepEqual(extended.updatesUntil, new Date('2027-05-16T00:00:00Z'));
});

test('a row whose end of updates is no date is reported with its line', async () => {
  const report = await importCsv(
    `license_key,updates_until\n${randomUUID().toUpperCase()},next year\n`,
  );
  assert.deepEqual(
    report.problems.map(({ line, problem }) => [line, problem.slice(0, 34)]),
    [[2, 'updates_until must be a date such ']],
  );
});
