import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import {
  SCRIPT,
  directory,
  packagePath,
  temporary,
  run,
  hash,
  linkPrograms,
  ADDRESS,
  UNSIGNED,
  serve,
  writeSum,
} from './install-script.fixture.ts';

describe('install.sh', () => {
  test('unpacks a package and runs its installer with arguments, variables and exit code', () => {
    const environment = { LATCHKEY_AGENT_FILE: packagePath, LATCHKEY_DOMAIN: 'a.example.com' };
    const { code, said } = run({ ...environment, LATCHKEY_AGENT_SHA256: hash(packagePath) });
    assert.deepEqual([code, said], [3, 'installer: install --verbose; a.example.com']);
  });

  test('downloads a package with the checksum beside it', () => {
    const url = ADDRESS;
    const sum = writeSum(packagePath);
    const curl = serve({ sha256: sum, 'tar.gz': packagePath });
    const { code, said } = run({ LATCHKEY_AGENT_URL: url, ...UNSIGNED }, { curl });
    assert.deepEqual([code, said.includes('installer: install --verbose')], [3, true]);
    writeFileSync(sum, `${'0'.repeat(64)}  package.tar.gz\n`);
    assert.match(
      run({ LATCHKEY_AGENT_URL: url, ...UNSIGNED }, { curl }).said,
      /^Wrong checksum: SHA-256 is [0-9a-f]{64}, expected 0{64}\./mu,
    );
    writeFileSync(sum, '\n');
    const unchecked = run({ LATCHKEY_AGENT_URL: url, ...UNSIGNED }, { curl });
    assert.match(unchecked.said, /package\.tar\.gz\.sha256 contains no SHA-256/u);
    assert.deepEqual([unchecked.code, unchecked.said.includes('installer:')], [1, false]);
  });

  test('uses the package that contains it', () => {
    const unpacked = join(directory, 'installer', 'latchkey-agent-1.0.0-linux-x64');
    cpSync(SCRIPT, join(unpacked, 'install.sh'));
    const { code, said } = run({}, {}, join(unpacked, 'install.sh'));
    assert.deepEqual([code, said], [3, 'installer: install --verbose;']);
  });

  test('does not run what lies in the working directory when it is read from a pipe', () => {
    const bin = linkPrograms('basename');
    const options = {
      cwd: join(directory, 'installer', 'latchkey-agent-1.0.0-linux-x64'),
      env: { PATH: bin },
    };
    const input = readFileSync(SCRIPT, 'utf8');
    const { status, stderr } = spawnSync('sh', { ...options, input, encoding: 'utf8' });
    assert.deepEqual([status, stderr.startsWith('Set LATCHKEY_AGENT_URL')], [1, true], stderr);
  });

  test('uses only a temporary directory that no other account may change', () => {
    const environment = { LATCHKEY_AGENT_FILE: packagePath, ...UNSIGNED };
    const inner = join(temporary, 'inner');
    for (const [mode, isSafe] of [
      [0o777, false],
      [0o775, false],
      [0o1777, true],
      [0o755, true],
    ] as const) {
      mkdirSync(inner);
      chmodSync(temporary, mode);
      const { code, said } = run({ ...environment, TMPDIR: inner });
      chmodSync(temporary, 0o755);
      rmSync(inner, { recursive: true });
      assert.equal(code, isSafe ? 3 : 1, said);
      if (!isSafe) assert.match(said, /^Other accounts may change .*\/tmp: set TMPDIR/mu);
    }
  });

  test('keeps its files private, whatever the umask', () => {
    const programs = { tar: 'stat -c %A "${TMPDIR}"/tmp.*; exit 1' };
    const environment = { LATCHKEY_AGENT_FILE: packagePath, ...UNSIGNED };
    const before = process.umask(0);
    try {
      assert.match(run(environment, programs).said, /^drwx------$/mu);
    } finally {
      process.umask(before);
    }
  });

  test('rejects invalid calls with an error message and runs nothing', () => {
    const broken = join(directory, 'broken.tar.gz');
    writeFileSync(broken, readFileSync(packagePath).subarray(0, 60));
    const cases: [Record<string, string>, Record<string, string>, RegExp][] = [
      [{}, { id: 'echo 1000' }, /^Root is required/u],
      [{}, { uname: 'echo Darwin' }, /^The agent runs on Linux only\.$/u],
      [
        {},
        { uname: '[ "$1" = -s ] && echo Linux || echo riscv64' },
        /^Unsupported processor: riscv64\./u,
      ],
      [
        { LATCHKEY_AGENT_FILE: packagePath, ...UNSIGNED },
        { uname: '[ "$1" = -s ] && echo Linux || echo aarch64' },
        /is for another processor: use latchkey-agent-linux-arm64\.tar\.gz\.$/u,
      ],
      [{}, {}, /^Set LATCHKEY_AGENT_URL/u],
      [{ LATCHKEY_AGENT_URL: 'http://example.com/a' }, {}, /^LATCHKEY_AGENT_URL must start with/u],
      [
        { LATCHKEY_AGENT_URL: 'https://example.com/a', ...UNSIGNED },
        { curl: 'exit 6' },
        /^Could not download the package/mu,
      ],
      [{ LATCHKEY_AGENT_FILE: '/nowhere' }, {}, /^File not found: \/nowhere\.$/u],
      [
        { LATCHKEY_AGENT_FILE: broken, ...UNSIGNED },
        {},
        /^Could not unpack the package: it is damaged, or/u,
      ],
      [
        { LATCHKEY_AGENT_FILE: packagePath, LATCHKEY_AGENT_SHA256: 'abc' },
        {},
        /^LATCHKEY_AGENT_SHA256 contains no SHA-256/u,
      ],
      [
        { LATCHKEY_AGENT_FILE: packagePath },
        { mktemp: 'exit 1' },
        /^Could not create a temporary directory/u,
      ],
    ];
    for (const [environment, programs, sentence] of cases) {
      const { code, said } = run(environment, programs);
      assert.equal(code, 1);
      assert.match(said, new RegExp(sentence.source, 'mu'));
      assert.doesNotMatch(said, /installer:/u);
    }
  });

  test('forbids wget to follow redirects, which may lead to http', () => {
    const bin = linkPrograms();
    const argumentLog = join(directory, 'arguments');
    writeFileSync(join(bin, 'wget'), `#!/bin/sh\necho "$@" >>'${argumentLog}'\nexit 8\n`, {
      mode: 0o755,
    });
    const environment = { LATCHKEY_AGENT_URL: 'https://example.com/a', PATH: bin, ...UNSIGNED };
    assert.match(run(environment).said, /^Could not download the package/mu);
    assert.match(
      readFileSync(argumentLog, 'utf8'),
      /--max-redirect=0 .*https:\/\/example\.com\/a\n$/u,
    );
  });

  test('needs curl or wget to download', () => {
    const environment = {
      LATCHKEY_AGENT_URL: 'https://example.com/a',
      PATH: linkPrograms(),
      ...UNSIGNED,
    };
    assert.match(run(environment).said, /^curl or wget is required: install one/mu);
  });
});
