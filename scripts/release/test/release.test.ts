/** Releases as RELEASING.md describes, with a key for this test alone, and examines and verifies the files. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { lacksOpenssl } from '../../../agent/test/certificates.ts';
import { readCommands } from '../../lib/document-commands.ts';
import { hasPrograms } from '../../lib/documented-service.ts';
import { signPackage } from '../../package/sign-package.ts';
import { PUBLIC_KEY_FILE, renderSum } from '../signature.ts';
import { readVersion } from '../version.ts';
import { NEXT_VERSION } from '../upgrade/service-packages.ts';
import { findMissingPackages } from './containers.ts';
import { DownloadServer } from './download-server.ts';
import { ReleaseClone } from './release-clone.ts';

const Bom = Type.Object({
  components: Type.Array(
    Type.Object({ name: Type.String(), version: Type.String(), purl: Type.String() }),
  ),
});

const [createKey = ''] = readCommands('RELEASING.md', 'Once');
const steps = readCommands('RELEASING.md', 'Each release');
const findStep = (word: string): string => steps.find((step) => step.includes(word)) ?? '';

const MAINTAINER = 'Maintainers <maintainers@example.com>';

/** The largest download that an image may be. */
const MAX_IMAGE_BYTES = 150_000_000;

const ARCHIVE = `latchkey-agent-linux-${process.arch}.tar.gz`;
const MANIFEST = `${ARCHIVE}.manifest`;

const skip = hasPrograms('git', 'ssh-keygen', 'tar', 'xz')
  ? (await findMissingPackages('x64')) || (await findMissingPackages('arm64'))
  : 'needs git, ssh-keygen, tar and xz';

describe('a release', { skip }, () => {
  const clone = new ReleaseClone();
  const first = clone.files;
  const otherKey = `${clone.key}-other`;
  let version = '';
  let output = '';

  before(async () => {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', otherKey]);
    await clone.run(createKey, clone.source);
    await clone.commitMaintainer(MAINTAINER);
    // This clone may have the version of the document already.
    const setVersion = findStep('npm run release:version').replaceAll('1.1.0', NEXT_VERSION);
    await clone.run(setVersion, clone.source);
    version = await readVersion(clone.source);
    output = await clone.run(findStep('npm run release --'), clone.source);
  });
  after(() => clone[Symbol.dispose]());

  test('has the same bytes when it is built again', () => {
    assert.match(output, /^The second build has the same bytes\.$/m);
  });

  test('lists the checksum of every package', () => {
    const sums = readFileSync(join(first, 'SHA256SUMS'), 'utf8');
    const listed = sums
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.slice(66));
    assert.ok(sums.startsWith(`# Latchkey ${version}\n`));
    const beside = readdirSync(first).filter(
      (name) => !/\.(?:sha256|sig)$|^SHA256SUMS$/.test(name),
    );
    assert.deepEqual(listed.sort(), beside.sort());
  });

  test('is verified by the documented commands with the public key alone, until it is altered', async () => {
    const verify = findStep('sha256sum --check');
    assert.match(await clone.run(verify, clone.clean), /Good "latchkey-release" signature/);
    const path = join(first, 'SHA256SUMS');
    const sums = readFileSync(path, 'utf8');
    writeFileSync(path, `${sums}\n`);
    await assert.rejects(clone.run(verify, clone.clean), /incorrect signature/);
    writeFileSync(path, sums);
  });

  test('is verified by the documented commands of a user, who downloads some of the files', async () => {
    const [commands = ''] = readCommands('docs/operations/packages.md', 'Install a package');
    const downloads = mkdtempSync(join(clone.source, 'downloads-'));
    for (const name of ['SHA256SUMS', 'SHA256SUMS.sig', ARCHIVE]) {
      copyFileSync(join(first, name), join(downloads, name));
    }
    copyFileSync(join(clone.clean, PUBLIC_KEY_FILE), join(downloads, PUBLIC_KEY_FILE));
    assert.match(await clone.run(commands, downloads), new RegExp(`^${ARCHIVE}: OK$`, 'm'));
    appendFileSync(join(downloads, ARCHIVE), 'x');
    await assert.rejects(clone.run(commands, downloads), /1 computed checksum did NOT match/);
  });

  test('has a small image for each processor', () => {
    const images = readdirSync(first).filter((name) => name.startsWith('latchkey-image-'));
    const archives = images.filter((name) => name.endsWith('.tar'));
    assert.deepEqual(
      archives.map((name) => name.replace(/^.*-/, '')),
      ['amd64.tar', 'arm64.tar'],
    );
    for (const name of archives) {
      assert.ok(statSync(join(first, name)).size < MAX_IMAGE_BYTES, name);
      const index = execFileSync('tar', ['-xOf', join(first, name), 'index.json']);
      const arch = name.endsWith('amd64.tar') ? 'amd64' : 'arm64';
      assert.equal(JSON.parse(String(index)).manifests[0].platform.architecture, arch);
    }
  });

  test('has the address of the maintainers', (t) => {
    if (!hasPrograms('dpkg-deb')) return t.skip('needs dpkg-deb');
    const packages = readdirSync(first).filter((name) => name.endsWith('.deb'));
    assert.equal(packages.length, 4);
    for (const name of packages) {
      const maintainer = execFileSync('dpkg-deb', ['--field', join(first, name), 'Maintainer']);
      assert.equal(String(maintainer), `${MAINTAINER}\n`);
    }
  });

  const cannotDownload = lacksOpenssl || (hasPrograms('curl') ? false : 'needs curl');
  test('is installed by install.sh only as it was signed', { skip: cannotDownload }, async () => {
    await using server = await DownloadServer.open(first);
    const archive = readFileSync(join(first, ARCHIVE));
    const altered = Buffer.from(archive);
    altered.writeUInt8(altered.readUInt8(altered.length - 9) ^ 1, altered.length - 9);
    const manifest = readFileSync(join(first, MANIFEST), 'utf8');
    const sum = renderSum(ARCHIVE, altered).slice(0, 64);
    const alteredManifest = Buffer.from(manifest.replace(/[0-9a-f]{64}/, sum));
    const foreign = await signWithAnotherKey();
    const cases: [Record<string, Buffer | null>, RegExp][] = [
      [{ [ARCHIVE]: altered }, /^Wrong checksum: .* Nothing was installed\.$/m],
      [{ [ARCHIVE]: altered, [MANIFEST]: alteredManifest }, /^Invalid signature: .*\.$/m],
      [{ [`${MANIFEST}.sig`]: foreign }, /^Invalid signature: .* Nothing was installed\.$/m],
      [{ [`${MANIFEST}.sig`]: null }, /^Could not download the signature .*\.$/m],
      [{ [MANIFEST]: null }, /^Could not download the signature .*\.$/m],
    ];
    for (const [replaced, message] of cases) {
      server.replaced.clear();
      for (const [name, content] of Object.entries(replaced)) server.replaced.set(name, content);
      const { code, output: printed, unpacked } = await server.install(ARCHIVE);
      assert.deepEqual([code, unpacked], [1, false], printed);
      assert.match(printed, message);
    }
    server.replaced.clear();
    const { code, output: printed } = await server.install(ARCHIVE);
    assert.deepEqual([code, /^Usage: latchkey-agent install/m.test(printed)], [0, true], printed);
  });

  async function signWithAnotherKey(): Promise<Buffer> {
    const copy = join(clone.source, ARCHIVE);
    copyFileSync(join(first, MANIFEST), `${copy}.manifest`);
    await signPackage(copy, otherKey);
    return readFileSync(`${copy}.manifest.sig`);
  }

  test('names the programs in the image by their vulnerabilities, and no other platform', () => {
    const text = readFileSync(join(first, `latchkey-image-${version}.cdx.json`), 'utf8');
    for (const program of ['nodejs:node.js:24', 'postgresql:postgresql:18']) {
      assert.match(text, new RegExp(`"cpe": "cpe:2.3:a:${program}[.0-9]*:`));
    }
    assert.doesNotMatch(text, /darwin|win32|windows/);
  });

  test('describes every package that npm installs with the service', () => {
    const text = readFileSync(join(first, `latchkey-${version}.cdx.json`), 'utf8');
    const { components } = Parse(Bom, JSON.parse(text));
    const described = new Set(components.map(({ purl }) => purl));
    const packed = execFileSync('tar', [
      '-xOzf',
      join(first, `latchkey-${version}.tgz`),
      'package/npm-shrinkwrap.json',
    ]);
    const { packages } = JSON.parse(String(packed));
    const installed = Object.entries<{ version: string }>(packages).filter(([path]) => path !== '');
    assert.ok(installed.length > 80);
    for (const [path, locked] of installed) {
      const name = path.replace(/^.*node_modules\//, '').replace('@', '%40');
      assert.ok(described.has(`pkg:npm/${name}@${locked.version}`), path);
    }
  });

  test('has Debian packages without errors of lintian', (t) => {
    if (spawnSync('lintian', ['--version']).error !== undefined) return t.skip('needs lintian');
    for (const name of readdirSync(first).filter((each) => each.endsWith('.deb'))) {
      const checked = ['--fail-on', 'error', '--tag-display-limit', '0', join(first, name)];
      const { status, stdout, stderr } = spawnSync('lintian', checked, { encoding: 'utf8' });
      assert.deepEqual(
        [status, stdout.split('\n').filter((line) => line.startsWith('E:'))],
        [0, []],
        `${name}: ${stderr}`,
      );
    }
  });

  // The last test, because it replaces the files.
  test('is refused without the public key, and with another private key', async () => {
    const only = 'npm run --silent release -- --only sbom';
    const refused = clone.run(`${only} --sign ~/.ssh/latchkey-release-other`, clone.clean);
    await assert.rejects(refused, {
      code: 1,
      stderr: /^.* is not the key of release-key\.pub.*\n$/,
    });
    rmSync(join(clone.clean, PUBLIC_KEY_FILE));
    await assert.rejects(clone.run(only, clone.clean), {
      code: 1,
      stderr: /^release-key\.pub is missing: .*\.\n$/,
    });
    assert.match(await clone.run(`${only} --local`, clone.clean), /SHA256SUMS: not signed$/m);
    assert.ok(!existsSync(join(first, 'SHA256SUMS.sig')));
  });
});
