import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';

import { parsePins } from '../../release/debian-pins.ts';
import { repository } from '../../lib/steps.ts';
import { DEBIAN_PACKAGES, loadDebianPackages, PINS_FILE, readPins } from './debian-packages.ts';

const CONTENT = Buffer.from('a package');
const MIRROR = 'http://deb.debian.org/debian/pool/main/d/dash/dash_0.5.12-12_amd64.deb';
const ARCHIVE =
  'http://snapshot.debian.org/archive/debian/20261128T000000Z/pool/main/d/dash/dash_0.5.12-12_amd64.deb';

test('every package of the image is pinned for each processor', async () => {
  const pins = await readPins(repository);
  for (const pinned of [pins.x64, pins.arm64]) {
    assert.deepEqual(
      pinned.map(({ name }) => name),
      [...DEBIAN_PACKAGES],
    );
  }
});

test('pins are read from what apt prints', () => {
  const line = `'http://deb.debian.org/debian/pool/main/g/gcc-14/libstdc%2b%2b6_14.2.0-19_amd64.deb' libstdc++6_14.2.0-19_amd64.deb 713628 SHA256:ab1fa0`;
  assert.deepEqual(parsePins(`Reading…\n${line}\n`), [
    {
      name: 'libstdc++6',
      version: '14.2.0-19',
      path: 'debian/pool/main/g/gcc-14/libstdc++6_14.2.0-19_amd64.deb',
      sha256: 'ab1fa0',
    },
  ]);
});

describe('a pinned package', () => {
  let root = '';
  const requested: string[] = [];
  const serve = (urls: Readonly<Record<string, Buffer>>) => (url: string) => {
    requested.push(url);
    const content = urls[url];
    return content === undefined
      ? Promise.reject(new Error('HTTP status 404'))
      : Promise.resolve(content);
  };

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'latchkey-pins-'));
    requested.length = 0;
    const dash = {
      name: 'dash',
      version: '0.5.12-12',
      path: 'debian/pool/main/d/dash/dash_0.5.12-12_amd64.deb',
      sha256: createHash('sha256').update(CONTENT).digest('hex'),
    };
    mkdirSync(dirname(join(root, PINS_FILE)), { recursive: true });
    const pins = { snapshot: '20261128T000000Z', x64: [dash], arm64: [] };
    writeFileSync(join(root, PINS_FILE), JSON.stringify(pins));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  test('is downloaded once', async () => {
    const download = serve({ [MIRROR]: CONTENT });
    assert.deepEqual(await loadDebianPackages(root, 'x64', download), [CONTENT]);
    assert.deepEqual(await loadDebianPackages(root, 'x64', download), [CONTENT]);
    assert.deepEqual(requested, [MIRROR]);
  });

  test('comes from the archive of old versions when the mirror has it no longer', async () => {
    const loaded = await loadDebianPackages(root, 'x64', serve({ [ARCHIVE]: CONTENT }));
    assert.deepEqual([loaded, requested], [[CONTENT], [MIRROR, ARCHIVE]]);
  });

  test('is rejected with another checksum', async () => {
    const altered = serve({ [MIRROR]: Buffer.from('another') });
    await assert.rejects(loadDebianPackages(root, 'x64', altered), /does not match its checksum/);
  });

  test('is reported with each address when it cannot be downloaded', async () => {
    await assert.rejects(loadDebianPackages(root, 'x64', serve({})), (error: Error) =>
      [MIRROR, ARCHIVE].every((url) => error.message.includes(url)),
    );
  });
});
