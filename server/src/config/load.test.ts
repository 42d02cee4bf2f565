import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import { loadConfiguration, readConfiguration } from './load.ts';
import { masterSecretPath, readOrCreateMasterSecret } from './master-secret.ts';
import { StartupError } from './startup-error.ts';

const root = mkdtempSync(join(tmpdir(), 'latchkey-config-'));
let directory = root;
beforeEach(() => {
  directory = mkdtempSync(join(root, 'case-'));
});
after(() => rmSync(root, { recursive: true }));

test('.env is read from the working directory, and the environment wins over it', () => {
  writeFileSync(join(directory, '.env'), 'LATCHKEY_PORT=1\nLATCHKEY_LOG_LEVEL="debug" # why\n');
  const { config } = readConfiguration({ LATCHKEY_PORT: '2' }, directory);
  assert.deepEqual([config.http.port, config.log.level], [2, 'debug']);
});

test('reading the configuration creates nothing; loading it creates a private secret', () => {
  readConfiguration({}, directory);
  assert.deepEqual(readdirSync(directory), []);

  const first = loadConfiguration({}, directory);
  const path = masterSecretPath(join(directory, 'data'));
  assert.match(first.secrets.master, /^[\w-]{43}$/u);
  assert.equal(readFileSync(path, 'utf8'), `${first.secrets.master}\n`);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(join(directory, 'data')), ['secret']);
  assert.equal(loadConfiguration({}, directory).secrets.master, first.secrets.master);
});

test('two processes that start at once end with the same secret', async () => {
  const module = new URL('./master-secret.ts', import.meta.url).href;
  const script = `import(${JSON.stringify(module)}).then((m) =>
    console.log(m.readOrCreateMasterSecret(${JSON.stringify(directory)}).secret))`;
  const run = promisify(execFile);
  const processes = Array.from({ length: 4 }, () => run(process.execPath, ['--eval', script]));
  const outputs = (await Promise.all(processes)).map(({ stdout }) => stdout.trim());
  assert.equal(new Set(outputs).size, 1);
  assert.equal(readFileSync(masterSecretPath(directory), 'utf8').trim(), outputs[0]);
  assert.deepEqual(readdirSync(directory), ['secret']);
});

test('restricts a secret file that others could read, with a warning', () => {
  const { secret } = readOrCreateMasterSecret(directory);
  chmodSync(masterSecretPath(directory), 0o644);
  const again = readOrCreateMasterSecret(directory);
  assert.equal(again.secret, secret);
  assert.match(again.warning ?? '', /was readable by other users \(mode 644\)/u);
  assert.equal(statSync(masterSecretPath(directory)).mode & 0o777, 0o600);
});

test('a damaged secret is never replaced by a new one', () => {
  writeFileSync(masterSecretPath(directory), 'cut of', { mode: 0o600 });
  assert.throws(
    () => readOrCreateMasterSecret(directory),
    /is damaged: .* restore the file from a backup\.$/u,
  );
  assert.equal(readFileSync(masterSecretPath(directory), 'utf8'), 'cut of');
});

test('reports a secret of another account differently from one that is not writable', () => {
  const path = masterSecretPath(directory);
  readOrCreateMasterSecret(directory);
  for (const parent of [directory, dirname(directory)]) chmodSync(parent, 0o755);
  // Root may read everything, so the test runs as `nobody`; other users remove their own permission.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  else chmodSync(path, 0);
  try {
    assert.throws(
      () => readOrCreateMasterSecret(directory),
      /cannot be read \(EACCES.*\): make the account that runs Latchkey its owner\.$/u,
    );
  } finally {
    if (isRoot) process.seteuid?.(0);
    else chmodSync(path, 0o600);
  }
  assert.match(readFileSync(path, 'utf8'), /^[\w-]{43}\n$/u);
});

test('does not replace a lost secret while its database exists', () => {
  mkdirSync(join(directory, 'postgres'));
  writeFileSync(join(directory, 'postgres', 'PG_VERSION'), '18\n');
  assert.throws(() => readOrCreateMasterSecret(directory), /is missing, .* restore the file/u);
  assert.deepEqual(readdirSync(directory), ['postgres']);
});

test('reports a data directory that is not usable', () => {
  const path = join(directory, 'file');
  writeFileSync(path, '');
  assert.throws(() => readOrCreateMasterSecret(path), StartupError);
  mkdirSync(masterSecretPath(directory));
  assert.throws(
    () => readOrCreateMasterSecret(directory),
    /make LATCHKEY_DATA_DIR writable or set LATCHKEY_SECRET/u,
  );
});

test('requires a secret for an external database, and reports all other problems', () => {
  const variables = {
    DATABASE_URL: 'postgres://db/x',
    LATCHKEY_PORT: 'x',
    LATCHKEY_DKIM_DOMAIN: 'a.b',
  };
  assert.throws(
    () => loadConfiguration(variables, directory),
    (error) => {
      assert.ok(error instanceof StartupError);
      assert.deepEqual(
        error.problems.map((problem) => problem.split(/[ ,]/u)[0]),
        ['LATCHKEY_PORT', 'LATCHKEY_DKIM_DOMAIN', 'LATCHKEY_SECRET'],
      );
      assert.match(error.problems[2] ?? '', /openssl rand -base64 32/u);
      return true;
    },
  );
  assert.deepEqual(readdirSync(directory), []);
});

test('rejects a secret file larger than 64 KiB', () => {
  const path = join(directory, 'huge');
  writeFileSync(path, 'x'.repeat(64 * 1024 + 1));
  const { problems } = readConfiguration({ LATCHKEY_SECRET_FILE: path }, directory);
  assert.match(problems.join(), /larger than 64 KiB/u);
});
