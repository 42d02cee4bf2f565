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
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { embedSigner, signPackage } from '../../../scripts/package/sign-package.ts';

const SCRIPT = fileURLToPath(new URL('../../install.sh', import.meta.url));
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
 * Runs the script with `id` replaced, so that it takes itself for root.
 * @param programs shell scripts that replace programs
 */
function run(
  environment: Readonly<Record<string, string>>,
  programs: Readonly<Record<string, string>> = {},
  path = SCRIPT,
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
  assert.deepEqual(readdirSync(temporary), [], 'removes its temporary files');
  return { code: status, said: `${stdout}${stderr}`.trim() };
}

function hash(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** Creates a directory with only these programs. */
function linkPrograms(...names: readonly string[]): string {
  const bin = mkdtempSync(join(directory, 'bin-'));
  for (const name of ['sh', 'uname', 'dirname', 'mktemp', 'rm', ...names]) {
    symlinkSync(spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim(), join(bin, name));
  }
  writeFileSync(join(bin, 'id'), '#!/bin/sh\necho 0\n', { mode: 0o755 });
  return bin;
}

const ADDRESS = 'https://downloads.example.com/package.tar.gz';
const UNSIGNED = { LATCHKEY_AGENT_UNSIGNED: 'yes' };

/** Returns a curl script that serves the package, and these files by the suffix of the URL. */
function serve(files: Readonly<Record<string, string>>): string {
  const cases = Object.entries(files).map(([end, path]) => `*.${end}) cp '${path}' "$2" ;;`);
  // The last argument is the URL; the output file follows --output.
  return `for last; do :; done
while [ "$1" != --output ]; do shift; done
case $last in ${cases.join(' ')} *.tar.gz) cp '${packagePath}' "$2" ;; *) exit 22 ;; esac`;
}

const lacksSsh =
  spawnSync('ssh-keygen', ['-?']).error === undefined
    ? false
    : 'needs ssh-keygen to sign and verify';

describe('the signature of a package', { skip: lacksSsh }, () => {
  const sum = join(directory, 'signed-sum');
  const signature = `${packagePath}.sig`;
  let script = '';
  let key = '';
  before(async () => {
    key = makeKey('release');
    writeFileSync(sum, `${hash(packagePath)}  package.tar.gz\n`);
    await signPackage(packagePath, key);
    // A signature beside the package would be verified by the other tests, too.
    renameSync(signature, join(directory, 'signature'));
    const text = await embedSigner(SCRIPT, key);
    script = join(directory, 'signing-install.sh');
    writeFileSync(script, text);
  });

  function makeKey(name: string): string {
    const path = join(directory, name);
    const args = ['-q', '-t', 'ed25519', '-N', '', '-f', path];
    assert.equal(spawnSync('ssh-keygen', args).status, 0);
    return path;
  }

  const install = (environment: Readonly<Record<string, string>>, sig: string | null) =>
    run(
      { LATCHKEY_AGENT_URL: ADDRESS, ...environment },
      { curl: serve({ sha256: sum, ...(sig === null ? {} : { sig }) }) },
      script,
    );

  test('installs a download signed with the key of the script', () => {
    const { code, said } = install({}, join(directory, 'signature'));
    assert.deepEqual([code, said.includes('installer: install --verbose')], [3, true], said);
  });

  test('rejects a download that is unsigned or signed with another key', async () => {
    const unsigned = install({}, null);
    assert.match(unsigned.said, /^Could not download the signature from .*\.sig:/mu);
    const other = makeKey('other');
    await signPackage(packagePath, other);
    renameSync(signature, join(directory, 'other-signature'));
    const foreign = install({}, join(directory, 'other-signature'));
    assert.match(
      foreign.said,
      /^Invalid signature: the package is not signed with the expected key\./mu,
    );
    for (const { code, said } of [unsigned, foreign])
      assert.deepEqual([code, said.includes('installer:')], [1, false]);
    const named = { LATCHKEY_AGENT_SIGNER: readFileSync(`${other}.pub`, 'utf8').trim() };
    assert.equal(install(named, join(directory, 'other-signature')).code, 3);
  });

  test('rejects a local package without a signature, unless its checksum is given or it is permitted', () => {
    const local = { LATCHKEY_AGENT_FILE: packagePath };
    const refused = run(local, {}, script);
    assert.match(refused.said, /^No signature: put .*package\.tar\.gz\.sig beside the package/mu);
    assert.deepEqual([refused.code, refused.said.includes('installer:')], [1, false]);
    const pinned = { ...local, LATCHKEY_AGENT_SHA256: hash(packagePath) };
    assert.equal(run(pinned, {}, script).code, 3);
    assert.equal(run({ ...local, ...UNSIGNED }, {}, script).code, 3);
    cpSync(join(directory, 'signature'), signature);
    try {
      assert.equal(run(local, {}, script).code, 3);
    } finally {
      rmSync(signature);
    }
  });

  test('rejects a signature for another purpose', () => {
    const path = join(directory, 'copy.tar.gz');
    cpSync(packagePath, path);
    const args = ['-q', '-Y', 'sign', '-f', key, '-n', 'file', path];
    assert.equal(spawnSync('ssh-keygen', args).status, 0);
    assert.match(install({}, `${path}.sig`).said, /not signed with the expected key/u);
  });

  test('a script without a key rejects a package without a given checksum or permission', () => {
    const programs = { curl: serve({ sha256: sum }) };
    for (const source of [{ LATCHKEY_AGENT_URL: ADDRESS }, { LATCHKEY_AGENT_FILE: packagePath }]) {
      const refused = run(source, programs);
      assert.match(refused.said, /^No public key to verify the package:/mu);
      assert.deepEqual([refused.code, refused.said.includes('installer:')], [1, false]);
      const pinned = { ...source, LATCHKEY_AGENT_SHA256: hash(packagePath) };
      assert.equal(run(pinned, programs).code, 3);
      assert.equal(run({ ...source, ...UNSIGNED }, programs).code, 3);
    }
  });
});

describe('install.sh', () => {
  test('unpacks a package and runs its installer with arguments, variables and exit code', () => {
    const environment = { LATCHKEY_AGENT_FILE: packagePath, LATCHKEY_DOMAIN: 'a.example.com' };
    const { code, said } = run({ ...environment, LATCHKEY_AGENT_SHA256: hash(packagePath) });
    assert.deepEqual([code, said], [3, 'installer: install --verbose; a.example.com']);
  });

  test('downloads a package with the checksum beside it', () => {
    const url = ADDRESS;
    const sum = join(directory, 'sum');
    writeFileSync(sum, `${hash(packagePath)}  package.tar.gz\n`);
    const curl = serve({ sha256: sum });
    const { code, said } = run({ LATCHKEY_AGENT_URL: url, ...UNSIGNED }, { curl });
    assert.deepEqual([code, said.includes('installer: install --verbose')], [3, true]);
    writeFileSync(sum, `${'0'.repeat(64)}  package.tar.gz\n`);
    assert.match(
      run({ LATCHKEY_AGENT_URL: url, ...UNSIGNED }, { curl }).said,
      /^Wrong checksum: SHA-256 is [0-9a-f]{64}, expected 0{64}\./mu,
    );
    writeFileSync(sum, '\n');
    const unchecked = run({ LATCHKEY_AGENT_URL: url, ...UNSIGNED }, { curl });
    assert.match(unchecked.said, /package\.tar\.gz\.sha256 contains no checksum/u);
    assert.deepEqual([unchecked.code, unchecked.said.includes('installer:')], [1, false]);
  });

  test('uses the package that contains it', () => {
    const unpacked = join(directory, 'latchkey-agent-1.0.0-linux-x64');
    cpSync(SCRIPT, join(unpacked, 'install.sh'));
    const { code, said } = run({}, {}, join(unpacked, 'install.sh'));
    assert.deepEqual([code, said], [3, 'installer: install --verbose;']);
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
        { LATCHKEY_AGENT_URL: 'https://example.com/a' },
        { curl: 'exit 6' },
        /^Could not download the package/mu,
      ],
      [{ LATCHKEY_AGENT_FILE: '/nowhere' }, {}, /^File not found: \/nowhere\.$/u],
      [
        { LATCHKEY_AGENT_FILE: broken, ...UNSIGNED },
        {},
        /^Could not unpack the package: it is damaged, or/u,
      ],
      [{ LATCHKEY_AGENT_FILE: packagePath, LATCHKEY_AGENT_SHA256: 'abc' }, {}, /expected abc\./u],
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
    const environment = { LATCHKEY_AGENT_URL: 'https://example.com/a', PATH: bin };
    assert.match(run(environment).said, /^Could not download the package/mu);
    assert.match(
      readFileSync(argumentLog, 'utf8'),
      /--max-redirect=0 .*https:\/\/example\.com\/a\n$/u,
    );
  });

  test('needs curl or wget to download', () => {
    const environment = { LATCHKEY_AGENT_URL: 'https://example.com/a', PATH: linkPrograms() };
    assert.match(run(environment).said, /^curl or wget is required: install one/mu);
  });
});
