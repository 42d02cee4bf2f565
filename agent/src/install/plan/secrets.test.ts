import assert from 'node:assert/strict';
import { test } from 'node:test';

import { BARE, OPTIONS, SHOP, withNginx } from './hosts.fixture.ts';
import { planInstall } from './plan-install.ts';

test('plans secret files for root and the agent only', () => {
  const plans = [
    planInstall(OPTIONS, BARE),
    planInstall({ ...OPTIONS, mutualTls: true }, withNginx(SHOP)),
  ];
  for (const plan of plans) {
    assert.ok(plan.kind === 'plan');
    const access = plan.steps.flatMap((step) =>
      step.kind === 'file' || step.kind === 'directory'
        ? [[step.path, step.mode.toString(8), step.group] as const]
        : [],
    );
    assert.deepEqual(
      access.filter(([, , group]) => group !== 'root'),
      [
        ['/etc/latchkey-agent/tls', '750', 'latchkey-agent'],
        ['/etc/latchkey-agent/agent.yaml', '640', 'latchkey-agent'],
      ],
    );
    const open = access.filter(([, , group]) => group === 'root').map(([, mode]) => mode);
    assert.deepEqual([...new Set(open)].sort(), ['644', '755']);
  }
});
