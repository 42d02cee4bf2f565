import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';

import { runCommand } from '../../test/agent-program.ts';
import { type AuthorityFixture, copyAuthority } from '../../test/authority-fixture.ts';
import { lacksOpenssl } from '../../test/certificates.ts';
import { emptyPrograms, type Programs } from '../../test/programs.ts';
import { formatInstalled } from '../install/installed.ts';
import { paths } from '../install/paths.ts';

const AGENT_PROGRAM = new URL('../../test/agent-program.ts', import.meta.url).href;

describe('latchkey-agent client-cert', { skip: lacksOpenssl }, () => {
  let fixture: AuthorityFixture;
  let programs: Programs;
  beforeEach(async () => {
    fixture = await copyAuthority();
    programs = emptyPrograms();
    programs.write('systemctl', 'exit 0');
  });
  afterEach(() => {
    fixture[Symbol.dispose]();
    programs[Symbol.dispose]();
  });

  /** Runs the command in the directory of bundles, with the tests' programs first in PATH. */
  async function run(args: readonly string[]) {
    const [directory, searchPath] = [process.cwd(), process.env['PATH']];
    process.chdir(fixture.output);
    process.env['PATH'] = `${programs.searchPath}:${searchPath}`;
    try {
      return await runCommand('client-cert', ...args, '--root', fixture.root);
    } finally {
      process.chdir(directory);
      process.env['PATH'] = searchPath;
    }
  }

  async function refused(...args: readonly string[]) {
    const { code, stdout, stderr } = await run(args);
    assert.equal(stdout, '');
    return [code, stderr.split('\n')[0]];
  }

  function installNginx(): void {
    const route = join(fixture.root, paths.nginxRoute);
    mkdirSync(dirname(route), { recursive: true });
    writeFileSync(route, '');
  }

  function writeInstalled({ proxyByHand }: { readonly proxyByHand: boolean }): void {
    const path = join(fixture.root, paths.journal, 'installed.json');
    mkdirSync(dirname(path), { recursive: true });
    const way = {
      mode: 'proxy',
      proxyPath: '/latchkey',
      mutualTls: true,
      proxyByHand,
      skipsDnsCheck: false,
    } as const;
    const facts = { version: '1.0.0', domain: 'monitor.test', certificateFiles: null, ...way };
    writeFileSync(path, formatInstalled(facts));
  }

  test('create prints path, hash, password and expiry of the bundle', async () => {
    const { code, stdout, stderr } = await run(['create', 'anna', '--days', '30']);
    assert.deepEqual([code, stderr], [0, '']);
    const expires = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
    const lines = stdout.split('\n');
    assert.equal(lines[0], `Created a certificate for anna, valid until ${expires}.`);
    assert.equal(lines[1], `  file      ${fixture.output}/anna.tar.gz`);
    assert.match(lines[2] ?? '', /^ {2}sha256 {4}[0-9a-f]{64}$/u);
    assert.match(
      lines[3] ?? '',
      /^ {2}password {2}(?:[a-z2-9]{6}-?){4} {2}\(of anna\.p12; shown only once and not stored\)$/u,
    );
    assert.equal(lines[4], `  expires   ${expires}`);
    assert.ok(existsSync(join(fixture.output, 'anna.tar.gz')));
    const again = await run(['create', 'anna', '--json', '--output', '../anna.tgz']);
    assert.equal(
      again.stderr,
      'Earlier certificates of anna are revoked.\nThe agent reads the new list within ten seconds and closes the connections of revoked certificates.\n',
    );
    const result = JSON.parse(again.stdout);
    assert.equal(result.path, join(fixture.root, 'anna.tgz'));
    assert.equal(result.replaced, 1);
    assert.ok(existsSync(result.path));
  });

  test('list prints a table with warnings, or JSON', async () => {
    const { record } = await fixture.create('anna', 20);
    const [issued, expires] = [record.issuedAt, record.expiresAt].map((time) => time.toISOString());
    const { code, stdout } = await run(['list']);
    const lines = stdout.split('\n');
    assert.equal(code, 0);
    assert.equal(lines[0], 'NAME            STATUS  ISSUED      EXPIRES     SERIAL');
    assert.match(lines[1] ?? '', /^Latchkey proxy {2}valid {3}\S{10} {2}\S{10} {2}[0-9A-F]{32}$/u);
    assert.equal(
      lines[2],
      `anna            valid   ${issued?.slice(0, 10)}  ${expires?.slice(0, 10)}  ${record.serial}`,
    );
    assert.match(lines[3] ?? '', /^! anna expires in (?:19|20) days: /u);
    const { certificates, warnings } = JSON.parse((await run(['list', '--json'])).stdout);
    assert.deepEqual(certificates[1], {
      name: 'anna',
      purpose: 'client',
      status: 'valid',
      serial: record.serial,
      issued_at: issued,
      expires_at: expires,
      revoked_at: null,
    });
    assert.equal(warnings.length, 1);
  });

  test('revoke prints its result, and does not reload nginx without a proxy', async () => {
    await fixture.create('anna');
    assert.deepEqual(await run(['revoke', 'anna']), {
      code: 0,
      stdout: 'The certificate of anna is revoked.\n',
      stderr:
        'The agent reads the new list within ten seconds and closes the connections of revoked certificates.\n',
    });
    assert.deepEqual(programs.starts(), []);
    const again = await run(['revoke', 'anna']);
    assert.deepEqual([again.code, again.stdout], [1, '']);
    assert.match(again.stderr, /^The certificate of anna was revoked on \S{10}\.\n$/u);
  });

  test('reloads nginx after a revocation, and from the timer only when files changed', async () => {
    installNginx();
    await fixture.create('anna');
    assert.match(
      (await run(['revoke', 'anna'])).stderr,
      /\nnginx was reloaded and reads the new list\.\n$/u,
    );
    const expected = ['is-active --quiet nginx.service', 'reload nginx.service'];
    assert.deepEqual(programs.starts(), expected);
    const refreshed = await run(['refresh-list']);
    assert.deepEqual(refreshed, {
      code: 0,
      stdout: 'The list of revoked certificates is renewed (number 3).\n',
      stderr: '',
    });
    assert.deepEqual(programs.starts(), expected);
  });

  test('does not reload a manually configured web server, and notes that the administrator must', async () => {
    writeInstalled({ proxyByHand: true });
    await fixture.create('anna');
    const { code, stderr } = await run(['revoke', 'anna']);
    assert.equal(code, 0);
    assert.match(stderr, /^You configured the web server .*: reload it, so that it rejects/mu);
    assert.deepEqual(programs.starts(), []);
  });

  test('reloads nginx although its files have other names', async () => {
    writeInstalled({ proxyByHand: false });
    await fixture.create('anna');
    assert.match((await run(['revoke', 'anna'])).stderr, /nginx was reloaded/u);
    assert.ok(programs.starts().includes('reload nginx.service'));
  });

  test('fails when nginx cannot be reloaded, and the timer retries', async () => {
    installNginx();
    await fixture.create('anna');
    programs.write('systemctl', '[ "$1" = is-active ] || { echo "it is broken" >&2; exit 1; }');
    const failed = await run(['revoke', 'anna']);
    assert.deepEqual([failed.code, failed.stdout], [1, 'The certificate of anna is revoked.\n']);
    assert.match(
      failed.stderr,
      /nginx could not be reloaded and still uses the old files: .*\(it is broken\)\n$/u,
    );
    programs.write('systemctl', 'exit 0');
    assert.equal((await run(['refresh-list'])).code, 0);
    assert.equal(programs.starts().filter((line) => line === 'reload nginx.service').length, 2);
    programs.write('systemctl', 'exit 3');
    await fixture.create('anna');
    assert.match(
      (await run(['revoke', 'anna'])).stderr,
      /nginx does not run; it reads the new list/u,
    );
  });

  test('exits with 1 and one sentence on failure, with 2 for an invalid command line', async () => {
    assert.deepEqual(await refused('revoke', 'berta'), [
      1,
      'There is no certificate for berta: "latchkey-agent client-cert list" shows the names.',
    ]);
    for (const name of ['..', '.hidden', 'Anna', 'a/b', 'a b', 'a'.repeat(65), 'é']) {
      const [code, sentence] = await refused('create', name);
      assert.equal(code, 2);
      assert.match(
        String(sentence),
        /A name has 1 to 64 of a-z, 0-9, '\.', '_' and '-', and must begin/u,
      );
    }
    for (const days of ['0', '826', '1.5', 'ten', '-1']) {
      assert.equal((await refused('create', 'anna', `--days=${days}`))[0], 2);
    }
    assert.equal((await refused('nonsense'))[0], 2);
    rmSync(fixture.paths.authority, { recursive: true });
    for (const args of [['create', 'anna'], ['list'], ['revoke', 'anna'], ['refresh-list']]) {
      assert.deepEqual(await refused(...args), [
        1,
        'This machine has no authority yet: "latchkey-agent install" with LATCHKEY_MTLS=yes creates one.',
      ]);
    }
  });

  const isRoot = process.getuid?.() === 0;
  test('reports that only root may run it', { skip: isRoot ? false : 'needs root' }, async () => {
    chmodSync(fixture.root, 0o755);
    const register = join(fixture.paths.authority, 'register.json');
    const before = readFileSync(register, 'utf8');
    const script = `
      import { runCommand } from ${JSON.stringify(AGENT_PROGRAM)};
      for (const args of [['create', 'anna'], ['list'], ['revoke', 'anna'], ['refresh-list']]) {
        const root = ['--root', ${JSON.stringify(fixture.root)}];
        console.log(JSON.stringify(await runCommand('client-cert', ...args, ...root)));
      }`;
    const args = ['--input-type=module-typescript', '--eval', script];
    const options = { cwd: fixture.output, uid: 65_534, encoding: 'utf8' } as const;
    const { stdout } = spawnSync(process.execPath, args, options);
    const stderr = 'Only root may use the authority: run this with sudo.\n';
    const line = JSON.stringify({ code: 1, stdout: '', stderr });
    assert.equal(stdout, `${line}\n`.repeat(4));
    assert.equal(readFileSync(register, 'utf8'), before);
  });
});
