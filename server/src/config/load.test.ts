import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
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

/** Runs work as `nobody` if the test runs as root, which may read everything. */
function asAnotherAccount<T>(work: () => T): T {
  chmodSync(dirname(directory), 0o755);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    return work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

test('.env is read from the working directory, and the environment wins over it', () => {
  writeFileSync(join(directory, '.env'), 'LATCHKEY_PORT=1\nLATCHKEY_LOG_LEVEL="debug" # why\n');
  const { config } = readConfiguration({ LATCHKEY_PORT: '2' }, directory);
  assert.deepEqual([config.http.port, config.log.level], [2, 'debug']);
});

/** What may be in the place of a `.env` file, and the words by which it is reported; null for none. */
const unusable: Readonly<Record<string, readonly [(path: string) => void, string | null]>> = {
  nothing: [() => undefined, null],
  'a directory': [(path) => mkdirSync(path), 'a directory'],
  'a link to nothing': [(path) => symlinkSync('nowhere', path), 'ENOENT'],
  'a link to itself': [(path) => symlinkSync('.env', path), 'ELOOP'],
  'a text that is not UTF-8': [
    (path) => writeFileSync(path, Buffer.from('\ufeffLATCHKEY_PORT=1\n', 'utf16le')),
    'not UTF-8',
  ],
  'a text of 2 MiB': [(path) => writeFileSync(path, 'x'.repeat(2 ** 21)), 'larger than 1 MiB'],
  'a device': [(path) => symlinkSync('/dev/null', path), 'not a file'],
};

for (const [what, [create, words]] of Object.entries(unusable)) {
  test(`starts with ${what} in the place of .env, and reports it once`, () => {
    const path = join(directory, '.env');
    create(path);
    const { config, problems, warnings } = readConfiguration({ LATCHKEY_PORT: '2' }, directory);
    assert.deepEqual([config.http.port, problems], [2, []]);
    assert.equal(warnings.length, words === null ? 0 : 1);
    if (words !== null)
      assert.match(warnings.join(''), new RegExp(`^${path} is not used .*${words}`));
  });
}

test('does not read a .env that another account left in a directory of everybody', (t) => {
  if (process.geteuid?.() !== 0)
    return t.skip('root is required to create a file of another account');
  const path = join(directory, '.env');
  writeFileSync(path, 'LATCHKEY_PORT=1\n');
  const read = () => readConfiguration({}, directory);
  chownSync(path, 65_534, 65_534);
  assert.equal(read().config.http.port, 1, 'only its owner can write in the directory');
  chmodSync(directory, 0o1777);
  assert.match(read().warnings.join('\n'), /\.env is not used \(of another account/u);
  assert.notEqual(read().config.http.port, 1);
  chownSync(path, 0, 0);
  assert.equal(read().config.http.port, 1);
});

test('starts in a working directory that its account may not read, and reports .env once', () => {
  writeFileSync(join(directory, '.env'), 'LATCHKEY_PORT=1\n');
  for (const mode of [0o000, 0o444, 0o711]) {
    chmodSync(join(directory, '.env'), 0);
    chmodSync(directory, mode);
    const { problems, warnings } = asAnotherAccount(() => readConfiguration({}, directory));
    chmodSync(directory, 0o700);
    assert.deepEqual(problems, [], mode.toString(8));
    assert.match(warnings.join('\n'), /^.*\.env is not used \(EACCES[^\n]*$/u);
  }
});

test('names a .env that cannot be read with the settings that may be missing because of it', () => {
  mkdirSync(join(directory, '.env'));
  assert.throws(
    () => loadConfiguration({ DATABASE_URL: 'postgres://db/x' }, directory),
    /LATCHKEY_SECRET must be set[^]*\.env is not used \(a directory\)/u,
  );
});

test('starts in a working directory that was removed, if its paths are absolute', () => {
  const relative = readConfiguration({}, null);
  assert.match(relative.problems.join('\n'), /^LATCHKEY_DATA_DIR must be an absolute path/u);
  const { problems, warnings } = readConfiguration({ LATCHKEY_DATA_DIR: '/srv/x' }, null);
  assert.deepEqual(problems, []);
  assert.deepEqual(warnings, ['The working directory was removed, so it has no .env.']);
});

test('the command line runs in a working directory that was removed', async () => {
  const program = fileURLToPath(new URL('../main.ts', import.meta.url));
  const script = `cd '${directory}' && rmdir '${directory}' && exec '${process.execPath}' '${program}' check-config`;
  const env = { LATCHKEY_DATA_DIR: join(root, 'elsewhere') };
  const { stdout, stderr } = await promisify(execFile)('sh', ['-c', script], { env });
  assert.match(stdout, /The configuration is valid\./u);
  assert.match(stderr, /^warning: The working directory was removed/mu);
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
  chmodSync(directory, 0o755);
  if (process.getuid?.() !== 0) chmodSync(path, 0);
  assert.throws(
    () => asAnotherAccount(() => readOrCreateMasterSecret(directory)),
    /cannot be read \(EACCES.*\): make the account that runs Latchkey its owner\.$/u,
  );
  chmodSync(path, 0o600);
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
