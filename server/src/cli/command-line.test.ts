import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Command } from 'commander';
import { runLatchkey } from '../../test/command-line.ts';
import { buildProgram } from './program.ts';

const directory = mkdtempSync(join(tmpdir(), 'latchkey-cli-'));
after(() => rmSync(directory, { recursive: true }));

const run = (args: readonly string[], settings: Record<string, string> = {}) =>
  runLatchkey(args, { directory, settings });

function listLeaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(listLeaves);
}

function helpOf(command: Command): string {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  return help;
}

test('describes every command with a sentence and an example', async () => {
  for (const command of listLeaves(await buildProgram())) {
    const help = helpOf(command);
    assert.match(command.description(), /^[A-Z].*\.$/su, command.name());
    assert.match(
      help,
      new RegExp(`Examples:\\n  # .+\\n  latchkey .*\\b${command.name()}\\b`, 'u'),
    );
  }
});

const FULL = '/dev/full';

test('reports a full disk with exit code 1', { skip: existsSync(FULL) ? false : FULL }, () => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, '../main.ts'), 'mail', 'preview', 'key'],
    { stdio: ['ignore', openSync(FULL, 'w'), 'pipe'], encoding: 'utf8' },
  );
  assert.equal(status, 1);
  assert.match(stderr, /^latchkey: .*ENOSPC.*\n$/u);
});

test('has every command', async () => {
  assert.deepEqual(
    listLeaves(await buildProgram()).map((leaf) =>
      leaf.parent?.parent ? `${leaf.parent.name()} ${leaf.name()}` : leaf.name(),
    ),
    [
      'serve',
      'migrate',
      'spread',
      'check-config',
      'doctor',
      'catalog apply-to-sold',
      'license issue',
      'license import',
      'license list',
      'license show',
      'license extend',
      'license updates',
      'license limit',
      'license allow-move',
      'license owner',
      'license free-machine',
      'license suspend',
      'license reinstate',
      'license revoke',
      'license rekey',
      'import',
      'imports list',
      'imports show',
      'imports undo',
      'pool add',
      'pool list',
      'pool show',
      'pool remove',
      'key create',
      'key list',
      'key roll',
      'key revoke',
      'operator create',
      'operator list',
      'operator disable',
      'operator enable',
      'operator role',
      'operator reset',
      'secret rotate',
      'signing-key list',
      'signing-key rotate',
      'signing-key revoke',
      'revenue show',
      'revenue rebuild',
      'webhook list',
      'webhook show',
      'webhook replay',
      'webhook dismiss',
      'webhook delete-test-data',
      'webhook reconcile',
      'webhook set-product',
      'webhook issue',
      'webhook link',
      'webhook set-address',
      'endpoint add',
      'endpoint list',
      'endpoint test',
      'endpoint log',
      'endpoint replay',
      'endpoint edit',
      'endpoint roll',
      'endpoint disable',
      'endpoint enable',
      'endpoint remove',
      'fleet list',
      'fleet add',
      'fleet edit',
      'fleet remove',
      'fleet import',
      'jobs list',
      'jobs retry',
      'mail preview',
      'mail resend',
      'subscriber list',
      'subscriber show',
      'subscriber export',
      'subscriber erase',
      'suppression list',
      'suppression add',
      'suppression remove',
      'report machines',
      'report versions',
      'report systems',
      'report events',
      'report props',
      'report drops',
      'report retention',
      'report trials',
      'report refresh',
      'events archive',
      'install show',
      'install export',
      'install erase',
      'machine erase',
      'customer show',
      'customer payments',
      'customer export',
      'customer erase',
      'audit list',
      'audit verify',
      'backup',
      'restore',
      'upgrade-database',
      'export',
      'version',
    ],
  );
});

test('prints its help without a command', async () => {
  const { code, stdout, stderr } = await run([]);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^Usage: latchkey \[options\] \[command\]\n/u);
});

test('rejects wrong usage with exit code 2 and a message on standard error', async () => {
  for (const [args, message] of [
    [
      ['licens'],
      /^latchkey: unknown command 'licens'\n\(Did you mean license\?\)\nTry: latchkey --help\n$/u,
    ],
    [['version', '--jsn'], /^latchkey: unknown option '--jsn'/u],
    [['license', 'issue'], /^latchkey: required option '--product <id>' not specified/u],
    [['license', 'suspend', 'LK-1'], /^latchkey: required option '--reason <text>' not specified/u],
    [
      ['license', 'extend', 'LK-1', '--reason', 'x', '--days', '0'],
      /a whole number from 1 to 36500\./u,
    ],
    [['license', 'extend', 'LK-1', '--reason', 'x'], /^latchkey: .*--days or --until.*\n$/u],
  ] as const) {
    const { code, stdout, stderr } = await run(args);
    assert.deepEqual([code, stdout], [2, ''], args.join(' '));
    assert.match(stderr, message);
  }
});

test('prints the version as text and as JSON', async () => {
  const plain = await run(['version']);
  assert.equal(plain.code, 0);
  assert.match(plain.stdout, /^latchkey \d+\.\d+\.\d+ \(Node\.js 24\.\d+\.\d+, \w+-\w+\)\n$/u);
  const { version, node } = JSON.parse((await run(['version', '--json'])).stdout);
  assert.equal(plain.stdout.includes(`latchkey ${version} (Node.js ${node}`), true);
  assert.equal((await run(['--version'])).stdout, `${version}\n`);
});

test('check-config prints the settings in effect without secrets, and changes nothing', async () => {
  const settings = {
    DATABASE_URL: 'postgres://app:hunter2@db.internal:5432/latchkey?sslmode=require',
    LATCHKEY_SECRET: 'hunter2-hunter2-hunter2-hunter2-abcdef',
    LATCHKEY_METRICS_TOKEN: 'hunter2-hunter2-hunter2',
  };
  const plain = await run(['check-config'], settings);
  assert.deepEqual([plain.code, plain.stderr], [0, '']);
  assert.match(plain.stdout, /^LATCHKEY_LOG_LEVEL +info +default$/mu);
  assert.match(
    plain.stdout,
    /^DATABASE_URL +postgres:\/\/app:\*\*\*@db\.internal:5432\/latchkey +set$/mu,
  );
  const json = await run(['check-config', '--json'], settings);
  const { settings: shown, products } = JSON.parse(json.stdout);
  assert.deepEqual(shown.LATCHKEY_METRICS_TOKEN, { value: '(secret)', origin: 'set' });
  assert.deepEqual(products, ['personal', 'sellers']);
  assert.doesNotMatch(plain.stdout + json.stdout, /hunter2/u);
  assert.deepEqual(readdirSync(directory), []);
});

test('check-config reports every problem at once, with exit code 78', async () => {
  const catalog = join(directory, 'catalog.yaml');
  writeFileSync(catalog, 'key_prefix: "?"\n');
  const { code, stdout, stderr } = await run(['check-config'], {
    LATCHKEY_PORT: '80x',
    LATCHKEY_EVENTS_RATE: 'fast',
    LATCHKEY_CATALOG: catalog,
  });
  rmSync(catalog);
  assert.deepEqual([code, stdout], [78, '']);
  const lines = stderr.trimEnd().split('\n');
  assert.match(lines[0] ?? '', /^latchkey: LATCHKEY_PORT must be a whole number/u);
  assert.match(lines[1] ?? '', /^latchkey: LATCHKEY_EVENTS_RATE must be/u);
  assert.ok(
    lines.length >= 3 && lines.slice(2).every((line) => line.includes('catalog.yaml')),
    stderr,
  );
});

test('exits with 78 for an invalid configuration', async () => {
  for (const args of [['serve'], ['migrate'], ['license', 'show', 'LK-1']]) {
    const { code, stdout, stderr } = await run(args, { LATCHKEY_PORT: 'x' });
    assert.deepEqual([code, stdout], [78, ''], args.join(' '));
    assert.match(stderr, /^latchkey: LATCHKEY_PORT must be .*\n$/u);
  }
});
