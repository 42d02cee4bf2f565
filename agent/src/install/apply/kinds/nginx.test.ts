import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FakeHost } from '../../../../test/fake-host.ts';
import { paths } from '../../paths.ts';
import { nginx } from './nginx.ts';

/** A captured state without anything that these steps depend on. */
const NOTHING = { paths: [], facts: {} };

/** Returns a host whose `pgrep` prints one worker after another, and then always the last one. */
function hostWith(...workers: readonly string[]): FakeHost {
  const host = new FakeHost();
  let asked = 0;
  host.intercept = (command) => {
    if (command.startsWith('systemctl show')) return { stdout: '71\n' };
    if (!command.startsWith('pgrep --parent 71')) return null;
    asked += 1;
    return { stdout: workers[Math.min(asked, workers.length) - 1] ?? '' };
  };
  return host;
}

test('waits until no old worker of nginx accepts connections', async () => {
  using host = hostWith('81\n82\n', '81\n82\n', '81\n82\n91\n', '82\n91\n92\n', '91\n92\n');
  const context = host.open();
  let paused = 0;
  const sleep = async () => void (paused += 1);
  context.changed.add(paths.nginxRoute);
  const services = { ...context.services, sleep };
  await nginx.apply({ kind: 'nginx', probesRoute: false }, { ...context, services }, NOTHING);
  assert.equal(paused, 3);
});

test('stops waiting for workers that stay or are invisible', async () => {
  for (const host of [hostWith('81\n'), hostWith('')]) {
    using its = host;
    await nginx.apply({ kind: 'nginx', probesRoute: false }, its.open(), NOTHING);
    assert.ok(its.calls.includes('systemctl reload nginx'));
  }
});
