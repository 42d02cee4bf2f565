/**
 * Every statement on a table that `latchkey spread` distributes is listed in `statement-ledger.json`, with the shards that it was seen
 * to touch on Citus. An unlisted or changed one may fail there, or touch every server.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { findInSource, findSpreadStatements } from './statement-ledger.ts';

const Ledger = Type.Record(
  Type.String(),
  Type.Object({
    hash: Type.String(),
    /** `one`: that of a known row; `rows`: those of the rows of a batch; `all`; `none`: only the catalogue, or no statement. */
    shards: Type.Enum(['one', 'rows', 'all', 'none']),
    /** The version of Citus on which it was seen. */
    citus: Type.String({ pattern: String.raw`^\d+\.\d+\.\d+$` }),
  }),
);

test('lists every statement on a table that may be spread as it was seen on Citus', () => {
  const path = join(import.meta.dirname, 'statement-ledger.json');
  const ledger = Parse(Ledger, JSON.parse(readFileSync(path, 'utf8')));
  const listed = Object.entries(ledger).map(([name, { hash }]) => `${name} ${hash}`);
  const found = findSpreadStatements().map(({ name, hash }) => `${name} ${hash}`);
  const advice =
    'run npm run test:citus, then list what was added or changed in server/test/statement-ledger.json, with its shards';
  assert.deepEqual(found, listed.toSorted(), advice);
});

const SOURCE = `
const COLUMNS = 'event_id, name';

/** Reads. */
const statement = defineStatement('event_read', Row, \`select \${COLUMNS} from events\`);

export async function countAll(db: Queryable): Promise<number> {
  return measureLong(db, 'select count(*) as number from usage_days', []);
}

const other = defineStatement('payment_read', Row, 'select id from billing_events, event_days');
`;

test('finds statements by their name, or by the function that contains them', () => {
  const names = findInSource('a.ts', SOURCE).map(({ name }) => name);
  assert.deepEqual(names, ['event_read', 'a.ts countAll']);
});

function hashes(source: string): string[] {
  return findInSource('a.ts', source).map(({ hash }) => hash);
}

test('a hash changes with the statement and what is inserted into it, not with white space and comments', () => {
  const [read, count] = hashes(SOURCE);
  assert.deepEqual(hashes(SOURCE.replace("'event_id, name'", "'name'"))[1], count);
  assert.notEqual(hashes(SOURCE.replace("'event_id, name'", "'name'"))[0], read);
  assert.notEqual(hashes(SOURCE.replace('from events', 'from events limit 1'))[0], read);
  const same = SOURCE.replace('Reads.', 'Reads them.').replace('from events', '\n  from  events');
  assert.deepEqual(hashes(same), [read, count]);
});
