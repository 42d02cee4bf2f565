import assert from 'node:assert/strict';
import { test } from 'node:test';

import { BARE, OPTIONS } from './hosts.fixture.ts';
import { planInstall } from './plan-install.ts';

test('marks a missing e-mail address as a missing option', () => {
  const busy = { ...BARE, listeners: [{ port: 80, address: '::', process: null }] };
  const lacks = [null, 'ops@example.com'].map((email) => {
    const plan = planInstall({ ...OPTIONS, mode: 'standalone', email }, busy);
    return plan.kind === 'refusal' && [plan.reasons.length, plan.lacksOption];
  });
  assert.deepEqual(lacks, [
    [2, true],
    [1, false],
  ]);
});
