import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { PLACEHOLDER } from '../package/maintainer.ts';
import { requireMaintainers } from './maintainers.ts';
import { PUBLIC_KEY_FILE } from './signature.ts';

test('a release needs the key and the address of its maintainers', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'latchkey-maintainers-'));
  t.after(() => rmSync(root, { recursive: true }));
  const address = 'Ada <ada@example.com>';
  assert.throws(() => requireMaintainers(root, address), {
    name: 'ReleaseError',
    message: /^release-key\.pub is missing: .*RELEASING\.md.*--local.*\.$/,
  });
  assert.throws(() => requireMaintainers(root, PLACEHOLDER), {
    message: /^release-key\.pub.*\nscripts\/package\/maintainer\.ts contains no address/,
  });
  writeFileSync(join(root, PUBLIC_KEY_FILE), 'ssh-ed25519 AAAA latchkey-release\n');
  assert.throws(() => requireMaintainers(root, PLACEHOLDER), { message: /^scripts\/package/ });
  requireMaintainers(root, address);
});
