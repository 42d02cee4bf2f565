import assert from 'node:assert/strict';
import { test } from 'node:test';

import { version } from '../../version.ts';
import { BARE, installedIn, OPTIONS } from './hosts.fixture.ts';
import { planInstall } from './plan-install.ts';

function plan(installed: string, allowsDowngrade = false) {
  const facts = { ...BARE, installed: { ...installedIn('standalone'), version: installed } };
  return planInstall({ ...OPTIONS, allowsDowngrade }, facts);
}

test('refuses to replace a newer version, unless that is allowed', () => {
  const refused = plan('99.0.0-rc.1');
  assert.deepEqual(refused.kind === 'refusal' && refused.reasons, [
    `This is version ${version}, and the newer 99.0.0-rc.1 is installed: to install it nevertheless, use --allow-downgrade.`,
  ]);
  assert.equal(plan('99.0.0-rc.1', true).kind, 'plan');
});

test('replaces an older version, and the same one', () => {
  for (const each of ['0.0.1', `${version}-rc.1`, version, `${version}+build.7`])
    assert.equal(plan(each).kind, 'plan', each);
});
