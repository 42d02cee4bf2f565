import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { loadConfiguration } from './load.ts';
import { masterSecretPath, previousSecretsPath, replaceMasterSecret } from './master-secret.ts';
import { StartupError } from './startup-error.ts';

const directory = mkdtempSync(join(tmpdir(), 'latchkey-secret-'));
after(() => rmSync(directory, { recursive: true }));

function load(data: string) {
  return loadConfiguration({ LATCHKEY_DATA_DIR: data }, directory).secrets;
}

test('keeps a replaced master secret, readable for the owner only', () => {
  const data = join(directory, 'replaced');
  const first = load(data);
  assert.deepEqual(first.previousMasters, []);
  replaceMasterSecret(data);
  const second = load(data);
  assert.notEqual(second.master, first.master);
  assert.deepEqual(second.previousMasters, [first.master]);
  replaceMasterSecret(data);
  assert.deepEqual(load(data).previousMasters, [second.master, first.master]);
  for (const path of [masterSecretPath(data), previousSecretsPath(data)]) {
    assert.equal(statSync(path).mode & 0o777, 0o600);
  }
  assert.deepEqual(readdirSync(data).sort(), ['secret', 'secret.previous']);
});

test('rejects the fourth secret in a row, and changes nothing', () => {
  const data = join(directory, 'many');
  load(data);
  for (let times = 0; times < 3; times += 1) replaceMasterSecret(data);
  const before = readFileSync(masterSecretPath(data), 'utf8');
  assert.throws(() => replaceMasterSecret(data), StartupError);
  assert.equal(readFileSync(masterSecretPath(data), 'utf8'), before);
  assert.equal(load(data).previousMasters.length, 3);
});

test('rejects the replacement of a missing master secret', () => {
  assert.throws(() => replaceMasterSecret(join(directory, 'none')), StartupError);
});

test('reads previous secrets from settings and data directory, each once', () => {
  const data = join(directory, 'both');
  const { master } = load(data);
  replaceMasterSecret(data);
  const other = 'another secret of the operator, 1234';
  const { secrets } = loadConfiguration(
    { LATCHKEY_DATA_DIR: data, LATCHKEY_PREVIOUS_SECRETS: other.replace(',', ';') },
    directory,
  );
  assert.deepEqual(secrets.previousMasters, [other.replace(',', ';'), master]);
});
