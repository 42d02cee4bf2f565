import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import { openTestPool } from '../../test/database-pool.ts';
import {
  toByteaArray,
  toJsonArray,
  toPlainArray,
  toTextArray,
  toUuidArray,
} from './hot-statement.ts';

const pool = await openTestPool();

/** Has PostgreSQL parse the text of an array. */
async function readBack(type: string, text: string): Promise<unknown> {
  const sql = `select array_to_json($1::${type}[]) as json`;
  const { rows } = await pool.query<{ json: unknown }>(sql, [text]);
  return rows[0]?.json;
}

/** More values than a batch has. */
const LENGTHS = { maxLength: 300 };
const RUNS = { numRuns: 30 };

describe('array parameters, as PostgreSQL parses them', () => {
  test('any texts, and nulls', async () => {
    const storable = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0'));
    const special = fc.constantFrom('', 'NULL', 'null', '"', '\\', '{', '}', ',', ' a ', '\n');
    const texts = fc.array(fc.option(fc.oneof(storable, special)), LENGTHS);
    const property = fc.asyncProperty(texts, async (values) => {
      assert.deepEqual(await readBack('text', toTextArray(values)), values);
    });
    await fc.assert(property, RUNS);
  });

  test('JSON of any texts, and nulls', async () => {
    const storable = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0'));
    const special = fc.constantFrom(
      '',
      'NULL',
      '"',
      '\\',
      '\\"',
      '{',
      '}',
      ',',
      '\n',
      '\u001f',
      '\u2028',
    );
    const text = fc.oneof(storable, special);
    const documents = fc.array(fc.option(fc.dictionary(text, text, { maxKeys: 4 })), LENGTHS);
    const property = fc.asyncProperty(documents, async (values) => {
      const sent = values.map((value) => (value === null ? null : JSON.stringify(value)));
      assert.deepEqual(await readBack('text', toJsonArray(sent)), sent);
    });
    await fc.assert(property, RUNS);
  });

  test('UUIDs in either case, and nulls', async () => {
    const ids = fc.array(fc.option(fc.uuid()), LENGTHS);
    const property = fc.asyncProperty(ids, fc.boolean(), async (values, upper) => {
      const sent = values.map((value) => (upper ? (value?.toUpperCase() ?? null) : value));
      assert.deepEqual(await readBack('uuid', toUuidArray(sent)), values);
    });
    await fc.assert(property, RUNS);
  });

  test('bytes of any value and length', async () => {
    const bytes = fc.array(fc.uint8Array({ maxLength: 64 }), LENGTHS);
    const property = fc.asyncProperty(bytes, async (values) => {
      const digits = values.map((value) => Buffer.from(value).toString('hex'));
      assert.deepEqual(
        await readBack('bytea', toByteaArray(digits)),
        digits.map((each) => `\\x${each}`),
      );
    });
    await fc.assert(property, RUNS);
  });

  test('numbers, booleans and null', async () => {
    const numbers = fc.array(fc.option(fc.integer()), LENGTHS);
    const booleans = fc.array(fc.option(fc.boolean()), LENGTHS);
    const property = fc.asyncProperty(numbers, booleans, async (some, others) => {
      assert.deepEqual(await readBack('integer', toPlainArray(some)), some);
      assert.deepEqual(await readBack('boolean', toPlainArray(others)), others);
    });
    await fc.assert(property, RUNS);
  });

  test('the texts of entitlement proofs', async () => {
    const alphabet = 'ABCXYZabcxyz0189._-'.split('');
    const proof = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 20, maxLength: 130 });
    const property = fc.asyncProperty(fc.array(fc.option(proof), LENGTHS), async (values) => {
      assert.deepEqual(await readBack('text', toPlainArray(values)), values);
    });
    await fc.assert(property, RUNS);
  });
});
