import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../install.sh', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'latchkey-agent-script-'));
const packagePath = join(directory, 'package.tar.gz');
const temporary = join(directory, 'tmp');

before(() => {
  mkdirSync(temporary);
  const bin = join(directory, 'latchkey-agent-1.0.0-linux-x64', 'bin');
  mkdirSync(bin, { recursive: true });
  const program = '#!/bin/sh\necho "installer: $*; $LATCHKEY_DOMAIN"\nexit 3\n';
  writeFileSync(join(bin, 'latchkey-agent'), program, { mode: 0o755 });
  const pack = ['-czf', packagePath, '-C', directory, 'latchkey-agent-1.0.0-linux-x64'];
  assert.equal(spawnSync('tar', pack).status, 0);
});
after(() => rmSync(directory, { recursive: true }));

interface Outcome {
  readonly code: number | null;
  readonly said: string;
}

/**
 * Runs the script as root of a Linux on x64, whatever this is.
 * @param programs shell scripts in place of programs
 */
function run(
  environment: Readonly<Record<string, string>>,
  programs: Readonly<Record<string, string>> = {},
  path = script,
): Outcome {
  const bin = mkdtempSync(join(directory, 'bin-'));
  for (const [name, text] of Object.entries({ id: 'echo 0', ...programs })) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const { status, stdout, stderr } = spawnSync('sh', [path, '--verbose'], {
    encoding: 'utf8',
    env: { PATH: `${bin}:/usr/sbin:/usr/bin:/sbin:/bin`, TMPDIR: temporary, ...environment },
  });
  assert.deepEqual(readdirSync(temporary), [], 'nothing temporary is left');
  return { code: status, said: `${stdout}${stderr}`.trim() };
}

function hash(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** A place where there are these programs only. */
function lay(...names: readonly string[]): string {
  const bin = mkdtempSync(join(directory, 'bin-'));
  for (const name of ['sh', 'uname', 'dirname', 'mktemp', 'rm', ...names]) {
    symlinkSync(spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim(), join(bin, name));
  }
  writeFileSync(join(bin, 'id'), '#!/bin/sh\necho 0\n', { mode: 0o755 });
  return bin;
}

describe('install.sh', () => {
  test('unpacks a package and hands over to its installer: arguments, variables, exit code', () => {
    const environment = { LATCHKEY_AGENT_FILE: packagePath, LATCHKEY_DOMAIN: 'a.example.com' };
    const { code, said } = run({ ...environment, LATCHKEY_AGENT_SHA256: hash(packagePath) });
    assert.deepEqual([code, said], [3, 'installer: install --verbose; a.example.com']);
  });

  test('downloads a package with the checksum beside it', () => {
    const url = 'https://downloads.example.com/package.tar.gz';
    const sum = join(directory, 'sum');
    writeFileSync(sum, `${hash(packagePath)}  package.tar.gz\n`);
    // The last argument is the address; the file stands behind --output.
    const curl = `for last; do :; done
while [ "$1" != --output ]; do shift; done
case $last in *.sha256) cp '${sum}' "$2" ;; *) cp '${packagePath}' "$2" ;; esac`;
    const { code, said } = run({ LATCHKEY_AGENT_URL: url }, { curl });
    assert.deepEqual([code, said.includes('installer: install --verbose')], [3, true]);
    writeFileSync(sum, `${'0'.repeat(64)}  package.tar.gz\n`);
    assert.match(run({ LATCHKEY_AGENT_URL: url }, { curl }).said, /is not the one that was meant/u);
    writeFileSync(sum, '\n');
    const unchecked = run({ LATCHKEY_AGENT_URL: url }, { curl });
    assert.match(unchecked.said, /package\.tar\.gz\.sha256 holds no checksum/u);
    assert.deepEqual([unchecked.code, unchecked.said.includes('installer:')], [1, false]);
  });

  test('takes the package that it lies in', () => {
    const unpacked = join(directory, 'latchkey-agent-1.0.0-linux-x64');
    cpSync(script, join(unpacked, 'install.sh'));
    const { code, said } = run({}, {}, join(unpacked, 'install.sh'));
    assert.deepEqual([code, said], [3, 'installer: install --verbose;']);
  });

  test('refuses with a sentence, and runs nothing', () => {
    const broken = join(directory, 'broken.tar.gz');
    writeFileSync(broken, readFileSync(packagePath).subarray(0, 60));
    const cases: [Record<string, string>, Record<string, string>, RegExp][] = [
      [{}, { id: 'echo 1000' }, /^Only root can install/u],
      [{}, { uname: 'echo Darwin' }, /^The agent runs on Linux only\.$/u],
      [{}, { uname: '[ "$1" = -s ] && echo Linux || echo aarch64' }, /this one is aarch64\.$/u],
      [{}, {}, /^Say where the package is/u],
      [{ LATCHKEY_AGENT_URL: 'http://example.com/a' }, {}, /^LATCHKEY_AGENT_URL must begin with/u],
      [
        { LATCHKEY_AGENT_URL: 'https://example.com/a' },
        { curl: 'exit 6' },
        /could not be downloaded/u,
      ],
      [{ LATCHKEY_AGENT_FILE: '/nowhere' }, {}, /^There is no file \/nowhere\.$/u],
      [{ LATCHKEY_AGENT_FILE: broken }, {}, /could not be unpacked: it is damaged, or the disk/u],
      [{ LATCHKEY_AGENT_FILE: packagePath, LATCHKEY_AGENT_SHA256: 'abc' }, {}, /instead of abc\./u],
      [{ LATCHKEY_AGENT_FILE: packagePath }, { mktemp: 'exit 1' }, /^There is no room/u],
    ];
    for (const [environment, programs, sentence] of cases) {
      const { code, said } = run(environment, programs);
      assert.equal(code, 1);
      assert.match(said, new RegExp(sentence.source, 'mu'));
      assert.doesNotMatch(said, /installer:/u);
    }
  });

  test('has wget follow to no other address, which may be one without TLS', () => {
    const bin = lay();
    const told = join(directory, 'told');
    writeFileSync(join(bin, 'wget'), `#!/bin/sh\necho "$@" >>'${told}'\nexit 8\n`, { mode: 0o755 });
    const environment = { LATCHKEY_AGENT_URL: 'https://example.com/a', PATH: bin };
    assert.match(run(environment).said, /could not be downloaded/u);
    assert.match(readFileSync(told, 'utf8'), /--max-redirect=0 .*https:\/\/example\.com\/a\n$/u);
  });

  test('needs curl or wget to download', () => {
    const environment = { LATCHKEY_AGENT_URL: 'https://example.com/a', PATH: lay() };
    assert.match(run(environment).said, /Neither curl nor wget is here/u);
  });
});
