import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestService, type TestService } from '../harness.ts';
import { encodingsOf, exerciseService } from './confidential-values.ts';

/** Dumps every row of every table as text; bytes as hexadecimal digits, and again decoded as text. */
async function dumpTables({ pool }: TestService): Promise<string> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  const lines = ['tables: ', ...tables.map(({ name }) => name)];
  for (const { name } of tables) {
    const { rows } = await pool.query<{ line: string }>(`select t::text as line from "${name}" t`);
    lines.push(...rows.map(({ line }) => line));
  }
  const text = lines.join('\n');
  const bytes = text.matchAll(/\\x([0-9a-f]{2,})/g);
  const decoded = Array.from(bytes, ([, digits = '']) => Buffer.from(digits, 'hex').toString());
  return [text, ...decoded].join('\n');
}

test('the database contains neither a key nor a value of a fingerprint', async () => {
  const service = await startTestService();
  const secrets = await exerciseService(service);
  const dump = await dumpTables(service);
  // The dump does contain expected values.
  for (const present of [...secrets.emails, ...secrets.machineIds, 'license.suspend']) {
    assert.ok(dump.includes(present), present);
  }
  for (const secret of [...secrets.keys, ...secrets.fingerprintValues, ...secrets.tokens]) {
    for (const spelling of encodingsOf(secret)) {
      assert.ok(!dump.includes(spelling), `the database contains ${spelling}`);
    }
  }
});

test('only the signature and the issue time of a token are stored', async () => {
  const service = await startTestService();
  const { tokens } = await exerciseService(service);
  const dump = await dumpTables(service);
  for (const token of tokens) {
    const [header = '', payload = ''] = token.split('.');
    assert.ok(!dump.includes(header) && !dump.includes(payload));
  }
});

test('the private signing key is stored sealed', async () => {
  const service = await startTestService();
  const { rows } = await service.pool.query<{ key: Buffer }>(
    'select private_key_sealed as key from signing_keys',
  );
  assert.equal(rows.length, 1);
  const pkcs8 = Buffer.from('302e020100300506032b6570', 'hex');
  for (const { key } of rows) {
    assert.ok(!key.includes(pkcs8) && !key.includes(pkcs8.toString('base64')));
  }
});

test('opens a sealed key only for its own license, and seals it differently each time', async () => {
  const service = await startTestService();
  const [one, other] = [await service.issue(), await service.issue()];
  const { vault } = service.context;
  assert.equal(vault.open(one.license.keySealed, `license:${one.license.id}`), one.licenseKey);
  assert.throws(() => vault.open(one.license.keySealed, `license:${other.license.id}`));
  const resealed = vault.seal(one.licenseKey, `license:${one.license.id}`);
  assert.notDeepEqual(resealed, one.license.keySealed);
});
