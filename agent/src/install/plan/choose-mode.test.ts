import assert from 'node:assert/strict';
import { test } from 'node:test';

import { OPTIONS, runNginx, SHOP, withNginx } from './hosts.fixture.ts';
import { planInstall } from './plan-install.ts';

test('returns instructions for a foreign nginx, and issues no certificate through it', () => {
  const foreign = 'The nginx that runs reads /srv/n.conf.';
  const host = { ...withNginx(SHOP), nginx: { ...runNginx(SHOP), foreign } };
  const manual = planInstall(OPTIONS, host);
  assert.ok(manual.kind === 'manual');
  assert.equal(manual.reason, foreign);
  assert.match(manual.instructions, /--proxy-by-hand.*127\.0\.0\.1:4096/su);
  const refusal = planInstall({ ...OPTIONS, mode: 'standalone' }, host);
  assert.ok(refusal.kind === 'refusal');
  assert.match(refusal.reasons.join(), /^The nginx that runs reads .* --cert-file and --key-file/u);
});
