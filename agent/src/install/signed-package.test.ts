import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, beforeEach, describe, test } from 'node:test';

import { parseArchitecture } from '../../../scripts/package/locked-packages.ts';
import { renderManifest } from '../../../scripts/package/pack-agent.ts';
import { embedSigner, signPackage } from '../../../scripts/package/sign-package.ts';
import { EQUAL, VERSIONS } from '../../test/version-order.ts';
import { formatInstalled, INSTALLED_FILE } from './installed.ts';
import { paths } from './paths.ts';
import { installedIn } from './plan/hosts.fixture.ts';
import { isOlder } from './plan/is-older.ts';
import {
  SCRIPT,
  directory,
  packagePath,
  pack,
  type Outcome,
  run,
  hash,
  ADDRESS,
  UNSIGNED,
  serve,
  writeSum,
} from './install-script.fixture.ts';

/** Writes the manifest of a package, with what a test changes in it, and signs it. */
async function sign(path: string, key: string, { version = '1.0.0', arch = 'x64' } = {}) {
  const platform = parseArchitecture(arch);
  const manifest = renderManifest({ version, arch: platform, digest: hash(path) });
  writeFileSync(`${path}.manifest`, manifest);
  await signPackage(path, key);
}

function makeKey(name: string): string {
  const path = join(directory, name);
  const args = ['-q', '-t', 'ed25519', '-N', '', '-f', path];
  assert.equal(spawnSync('ssh-keygen', args).status, 0);
  return path;
}

function refuse(outcome: Outcome, sentence: RegExp): void {
  assert.match(outcome.said, new RegExp(sentence.source, 'mu'));
  assert.deepEqual([outcome.code, outcome.said.includes('installer:')], [1, false]);
}

const lacksSsh =
  spawnSync('ssh-keygen', ['-?']).error === undefined
    ? false
    : 'needs ssh-keygen to sign and verify';

describe('the signature of a package', { skip: lacksSsh }, () => {
  const signed = join(directory, 'signed.tar.gz');
  let script = '';
  let key = '';
  before(async () => {
    key = makeKey('release');
    cpSync(packagePath, signed);
    await sign(signed, key);
    const text = await embedSigner(SCRIPT, key);
    script = join(directory, 'signing-install.sh');
    writeFileSync(script, text.replace(/^INSTALLED=.*$/mu, `INSTALLED='${installed}'`));
  });
  const installed = join(directory, 'installed.json');
  beforeEach(() => rmSync(installed, { force: true }));

  /** Runs the script on a download, and on a local copy, with the files beside a package. */
  function installBoth(path: string, environment: Readonly<Record<string, string>> = {}): Outcome {
    const named = ['manifest', 'manifest.sig'].map((end) => [end, `${path}.${end}`] as const);
    const files = Object.fromEntries(named.filter(([, file]) => existsSync(file)));
    const curl = serve({ ...files, 'tar.gz': path });
    const downloaded = run({ LATCHKEY_AGENT_URL: ADDRESS, ...environment }, { curl }, script);
    const local = run({ LATCHKEY_AGENT_FILE: path, ...environment }, {}, script);
    assert.equal(local.code, downloaded.code, local.said);
    return { code: local.code, said: `${downloaded.said}\n${local.said}` };
  }

  test('installs a package signed with the key of the script', () => {
    const { code, said } = installBoth(signed);
    assert.equal(code, 3, said);
    assert.equal(said.match(/installer: install --verbose/gu)?.length, 2, said);
  });

  test('rejects a package that is unsigned or signed with another key', async () => {
    refuse(installBoth(packagePath), /^Could not download the signature from .*\.manifest:/u);
    refuse(installBoth(packagePath), /^No signature: put .*package\.tar\.gz\.manifest beside/u);
    const [other, path] = [makeKey('other'), join(directory, 'other.tar.gz')];
    cpSync(packagePath, path);
    await sign(path, other);
    refuse(
      installBoth(path),
      /^Invalid signature: the package is not signed with the expected key/u,
    );
    const named = { LATCHKEY_AGENT_SIGNER: readFileSync(`${other}.pub`, 'utf8').trim() };
    assert.equal(installBoth(path, named).code, 3);
  });

  test('accepts a package without a signature if its checksum is given or it is permitted', () => {
    const local = { LATCHKEY_AGENT_FILE: packagePath };
    const pinned = { ...local, LATCHKEY_AGENT_SHA256: hash(packagePath) };
    assert.equal(run(pinned, {}, script).code, 3);
    assert.equal(run({ ...local, ...UNSIGNED }, {}, script).code, 3);
  });

  test('rejects a signature for another purpose', () => {
    const path = join(directory, 'purpose.tar.gz');
    for (const end of ['', '.manifest']) cpSync(`${signed}${end}`, `${path}${end}`);
    const args = ['-q', '-Y', 'sign', '-f', key, '-n', 'file', `${path}.manifest`];
    assert.equal(spawnSync('ssh-keygen', args).status, 0);
    refuse(installBoth(path), /not signed with the expected key/u);
  });

  test('rejects the signature of other bytes, another version, processor or product', async () => {
    const path = join(directory, 'renamed.tar.gz');
    pack('1.1.0', path);
    for (const end of ['.manifest', '.manifest.sig']) cpSync(`${signed}${end}`, `${path}${end}`);
    refuse(installBoth(path), /^Wrong checksum: SHA-256 is [0-9a-f]{64}, expected [0-9a-f]{64}\./u);
    await sign(path, key, { version: '1.2.0' });
    refuse(
      installBoth(path),
      /^The package contains version 1\.1\.0, and its signature is of 1\.2\.0\./u,
    );
    await sign(path, key, { version: '1.1.0', arch: 'arm64' });
    refuse(installBoth(path), /^The package is for another processor \(linux-arm64\)/u);
    for (const text of ['other 1.1.0 linux-x64', 'latchkey-agent 1.1.0 linux-x64 more']) {
      writeFileSync(`${path}.manifest`, `${text} ${hash(path)}\n`);
      await signPackage(path, key);
      refuse(installBoth(path), /^The signature is of another product/u);
    }
  });

  test('rejects a genuine package that is older than the installed agent, unless that is allowed', () => {
    for (const newer of ['1.0.1-rc.1', '1.0.1', '1.10.0']) {
      writeFileSync(installed, `{\n  "version": "${newer}",\n  "mode": "proxy"\n}\n`);
      const sentence = `^The package has version 1.0.0, and the newer ${newer} is installed`;
      refuse(installBoth(signed), new RegExp(sentence, 'u'));
      refuse(
        run({ LATCHKEY_AGENT_FILE: signed, ...UNSIGNED }, {}, script),
        new RegExp(sentence, 'u'),
      );
      assert.equal(installBoth(signed, { LATCHKEY_AGENT_ALLOW_DOWNGRADE: 'yes' }).code, 3);
    }
    for (const older of ['0.9.0', '1.0.0-rc.1', '1.0.0']) {
      writeFileSync(installed, `{\n  "version": "${older}",\n  "mode": "proxy"\n}\n`);
      assert.equal(installBoth(signed).code, 3, older);
    }
    writeFileSync(installed, '{ damaged');
    refuse(installBoth(signed), /does not name the installed version/u);
  });

  test('compares versions as the installer does', () => {
    const [, source = ''] =
      /^(is_older\(\) \{\n[^]*?^\}\n)/mu.exec(readFileSync(SCRIPT, 'utf8')) ?? [];
    const compare = (pairs: readonly (readonly [string, string])[]): string => {
      const calls = pairs.map((pair) => `is_older ${pair.join(' ')} && printf y || printf n`);
      return spawnSync('sh', ['-c', `${source}${calls.join('\n')}`], { encoding: 'utf8' }).stdout;
    };
    const pairs = VERSIONS.flatMap((one) => VERSIONS.map((other) => [one, other] as const));
    const all = [...pairs, ...EQUAL];
    assert.equal(compare(all), all.map((pair) => (isOlder(...pair) ? 'y' : 'n')).join(''));
  });

  test('reads the version that an installation records', () => {
    const text = readFileSync(SCRIPT, 'utf8');
    assert.match(text, new RegExp(`^INSTALLED='${join(paths.journal, INSTALLED_FILE)}'$`, 'mu'));
    const [, expression = ''] = /sed -n '(s[^']*)'/u.exec(text) ?? [];
    const input = formatInstalled({ ...installedIn('proxy'), version: '1.2.3-rc.1+b' });
    const { stdout } = spawnSync('sed', ['-n', expression], { input, encoding: 'utf8' });
    assert.equal(stdout, '1.2.3-rc.1+b\n');
  });

  test('a script without a key rejects a package without a given checksum or permission', () => {
    const programs = { curl: serve({ sha256: writeSum(packagePath), 'tar.gz': packagePath }) };
    for (const source of [{ LATCHKEY_AGENT_URL: ADDRESS }, { LATCHKEY_AGENT_FILE: packagePath }]) {
      refuse(run(source, programs), /^No public key to verify the package:/u);
      const pinned = { ...source, LATCHKEY_AGENT_SHA256: hash(packagePath) };
      assert.equal(run(pinned, programs).code, 3);
      assert.equal(run({ ...source, ...UNSIGNED }, programs).code, 3);
    }
  });

  /** Programs of the script, in whose place another account replaces the files that were read. */
  for (const program of ['ssh-keygen', 'sha256sum', 'wc', 'tar', 'cp']) {
    for (const protection of ['signature', 'checksum'] as const) {
      test(`runs what it verified by its ${protection} when the files are replaced at ${program}`, () => {
        const path = join(directory, `${program}-${protection}.tar.gz`);
        const evil = join(directory, 'evil.tar.gz');
        pack('1.0.0', evil, 'evil');
        for (const end of ['', '.manifest', '.manifest.sig'])
          cpSync(`${signed}${end}`, `${path}${end}`);
        const real = spawnSync('which', [program], { encoding: 'utf8' }).stdout.trim();
        // Replaced when the program has read its input, and before it ends.
        const swap = `${real} "$@"; code=$?; /bin/cp '${evil}' '${path}.new'; /bin/mv '${path}.new' '${path}'; exit $code`;
        const pinned = protection === 'checksum' ? { LATCHKEY_AGENT_SHA256: hash(signed) } : {};
        const { code, said } = run(
          { LATCHKEY_AGENT_FILE: path, ...pinned },
          { [program]: swap },
          script,
        );
        assert.doesNotMatch(said, /evil:/u);
        assert.deepEqual([code, said.includes('installer: install')], [3, true], said);
      });
    }
  }
});
