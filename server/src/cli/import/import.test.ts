import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from 'pg';

import { runLatchkey } from '../../../test/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';

let directory: string;
let database: TestDatabase;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'latchkey-import-'));
  database = await createTestDatabase();
});

after(async () => {
  await database.drop();
  await rm(directory, { recursive: true });
});

function run(args: readonly string[], input?: string) {
  return runLatchkey(args, {
    directory,
    settings: {
      DATABASE_URL: database.url,
      LATCHKEY_SECRET: 'the-master-secret-of-the-installation-1',
    },
    ...(input === undefined ? {} : { input }),
  });
}

function fixture(name: string): string {
  return fileURLToPath(new URL(`../../../test/fixtures/imports/${name}`, import.meta.url));
}

async function query(text: string): Promise<unknown[]> {
  const client = new Client(database.url);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const SALES = ['import', '--from', 'gumroad', fixture('gumroad-sales.csv')];

test('shows what an import would do, and stores nothing', async () => {
  const { code, stdout, stderr } = await run([
    ...SALES,
    '--dry-run',
    '--map',
    'pxled (Pro)=sellers',
  ]);
  assert.equal(
    stdout,
    `Would import 1 license of 9 rows from gumroad.

OUTCOME          ROWS  MEANING
new              1     created
skipped          1     left out
unknown_product  7     have a product that is not mapped

PRODUCT  NEW LICENSES
sellers  1

UNKNOWN PRODUCT  NAME          ROWS  SIMILAR
pxled            Pixel Editor  7     –
Map each one, such as --map "pxled=PRODUCT", or all with --product.
`,
  );
  const lines = stderr.trimEnd().split('\n');
  assert.deepEqual(
    [code, lines[0], lines[1], lines.length],
    [
      1,
      'row 12: skipped: The sale has no license key.',
      'row 4: unknown_product: The product "pxled", "Pixel Editor" is not mapped to a product of the catalogue.',
      2,
    ],
  );
  assert.deepEqual(await query('select count(*)::int as rows from licenses'), [{ rows: 0 }]);
});

async function showsOrigin(): Promise<void> {
  const [row] = await query("select license_id from imported_licenses where source_id = 'a100'");
  const id = String(Object(row).license_id);
  const { stdout } = await run(['license', 'show', id]);
  assert.match(stdout, /^imported from +gumroad$/mu);
  assert.match(stdout, /^id there +a100$/mu);
  const shown = JSON.parse((await run(['license', 'show', id, '--json'])).stdout);
  assert.deepEqual([shown.origin.source, shown.origin.source_id], ['gumroad', 'a100']);
  assert.equal(shown.old_devices, 0);
}

test('imports, repeats without effect, lists, shows and undoes', async () => {
  const map = join(directory, 'products.txt');
  await writeFile(map, '# Gumroad\npxled = personal\npxled (Pro)=sellers\n');
  const importing = [...SALES, '--map-file', map, '--reason', 'the move', '--json'];
  const first = JSON.parse((await run(importing)).stdout);
  assert.deepEqual(
    [first.dry_run, first.outcomes.new, first.outcomes.skipped, first.products],
    [false, 8, 1, { personal: 7, sellers: 1 }],
  );
  assert.deepEqual(first.notes.not_usable, 3);
  await showsOrigin();
  const second = await run(importing);
  assert.deepEqual([second.code, JSON.parse(second.stdout).outcomes.same], [0, 8]);

  const listed = JSON.parse((await run(['imports', 'list', '--json'])).stdout);
  assert.deepEqual(
    listed.items.map(({ source, reason, licenses }: Record<string, unknown>) => [
      source,
      reason,
      licenses,
    ]),
    [
      ['gumroad', 'the move', 0],
      ['gumroad', 'the move', 8],
    ],
  );
  const id = first.import_id;
  const list = (await run(['imports', 'list'])).stdout.trimEnd().split('\n');
  assert.match(list[0] ?? '', /^ID +STARTED +SOURCE +LICENSES +STATE$/u);
  assert.ok(list[2]?.startsWith(id));
  assert.ok(list.every((line) => line.length <= 88));
  const shown = JSON.parse((await run(['imports', 'show', id, '--limit', '1', '--json'])).stdout);
  assert.deepEqual(
    [shown.licenses.length, shown.licenses[0].source_id, shown.licenses[0].state, shown.has_more],
    [1, 'a100', 'untouched', true],
  );
  assert.deepEqual(shown.report.outcomes, first.outcomes);
  await query(`update licenses set note = 'called' where id = '${shown.licenses[0].license_id}'`);
  const undone = await run(['imports', 'undo', id, '--reason', 'wrong file']);
  assert.equal(
    undone.stdout.split('\n').at(-2),
    'Removed 7 licenses; 1 stay: 0 activated, 0 paid, 1 changed.',
  );
  assert.deepEqual(await query('select count(*)::int as rows from licenses'), [{ rows: 1 }]);
});

test('refuses a product that does not exist, a missing file, and standard input that must be read twice', async () => {
  const wrongProduct = await run([...SALES, '--product', 'personl']);
  assert.deepEqual(
    [wrongProduct.code, wrongProduct.stderr],
    [2, 'latchkey: The catalogue has no product "personl": personal was probably meant.\n'],
  );
  const missing = await run(['license', 'import', join(directory, 'none.csv')]);
  assert.deepEqual(
    [missing.code, missing.stderr],
    [1, `latchkey: The file ${join(directory, 'none.csv')} does not exist.\n`],
  );
  const input = await run(['import', '--from', 'keygen', '-'], '{"data":[]}');
  assert.deepEqual(
    [input.code, input.stderr],
    [2, 'latchkey: The file is read twice: save it, and name it instead of -.\n'],
  );
});
