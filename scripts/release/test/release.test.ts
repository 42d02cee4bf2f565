/** Builds the whole release, as `npm run release` does, and examines its files. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { repository } from '../../lib/steps.ts';
import { buildRelease } from '../build-release.ts';
import { PART_NAMES, type Release } from '../parts.ts';
import { RELEASE_NAMESPACE, signSums } from '../signature.ts';
import { readVersion } from '../version.ts';

const Bom = Type.Object({
  components: Type.Array(
    Type.Object({ name: Type.String(), version: Type.String(), purl: Type.String() }),
  ),
});

describe('a release', () => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-release-'));
  const [first, second] = [join(folder, 'first'), join(folder, 'second')];
  const reported: string[] = [];
  let release: Release;
  let sums = '';

  before(async () => {
    release = { root: repository, version: await readVersion(repository) };
    sums = await build(first);
  });
  after(() => rmSync(folder, { recursive: true }));

  function report(line: string): void {
    reported.push(line);
  }

  function build(target: string): Promise<string> {
    return buildRelease(release, { folder: target, parts: PART_NAMES, key: null, report });
  }

  test('has the same bytes when it is built again', async () => {
    assert.equal(await build(second), sums);
  });

  test('lists the checksum of every package', () => {
    const checked = spawnSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: first });
    assert.equal(checked.status, 0, String(checked.stdout));
    const listed = sums
      .trim()
      .split('\n')
      .map((line) => line.slice(66));
    const beside = readdirSync(first).filter((name) => !/\.sha256$|^SHA256SUMS$/.test(name));
    assert.deepEqual(listed.sort(), beside.sort());
  });

  test('says that it is not signed, or is verified with the public key alone', async () => {
    assert.match(reported.join('\n'), /^SHA256SUMS: not signed/m);
    const key = join(folder, 'key');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    await signSums(join(first, 'SHA256SUMS'), key);
    const signers = join(folder, 'signers');
    writeFileSync(signers, `latchkey ${readFileSync(`${key}.pub`, 'utf8')}`);
    const verify = (text: string | Buffer) => {
      const signature = ['-s', join(first, 'SHA256SUMS.sig'), '-n', RELEASE_NAMESPACE];
      const args = ['-Y', 'verify', '-f', signers, '-I', 'latchkey', ...signature];
      return spawnSync('ssh-keygen', args, { input: text }).status;
    };
    assert.equal(verify(sums), 0);
    assert.notEqual(verify(sums.replace('0', '1')), 0);
  });

  test('describes every package that npm installs with the service', () => {
    const text = readFileSync(join(first, `latchkey-${release.version}.cdx.json`), 'utf8');
    const { components } = Parse(Bom, JSON.parse(text));
    const described = new Set(components.map(({ purl }) => purl));
    const packed = execFileSync('tar', [
      '-xOzf',
      join(first, `latchkey-${release.version}.tgz`),
      'package/npm-shrinkwrap.json',
    ]);
    const { packages } = JSON.parse(String(packed));
    const installed = Object.entries<{ version: string }>(packages).filter(([path]) => path !== '');
    assert.ok(installed.length > 80);
    for (const [path, { version }] of installed) {
      const name = path.replace(/^.*node_modules\//, '').replace('@', '%40');
      assert.ok(described.has(`pkg:npm/${name}@${version}`), path);
    }
  });

  test('has Debian packages without errors of lintian', (t) => {
    if (spawnSync('lintian', ['--version']).error !== undefined) return t.skip('needs lintian');
    for (const name of readdirSync(first).filter((each) => each.endsWith('.deb'))) {
      const { stdout } = spawnSync('lintian', ['--tag-display-limit', '0', join(first, name)], {
        encoding: 'utf8',
      });
      assert.deepEqual(
        stdout.split('\n').filter((line) => line.startsWith('E:')),
        [],
        name,
      );
    }
  });
});
