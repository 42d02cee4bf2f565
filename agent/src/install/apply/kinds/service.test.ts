import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FakeHost } from '../../../../test/fake-host.ts';
import { service } from './service.ts';

test('reports a service that cannot be restarted, and continues', async () => {
  using host = new FakeHost();
  host.intercept = (command) =>
    command.startsWith('systemctl restart') ? { code: 1, stderr: 'no' } : null;
  const before = { paths: [], facts: { state: ['active', 'enabled'] } };
  const subject = { unit: 'latchkey-agent.service' };
  await service.afterUndo?.({ kind: 'service', subject, before, after: null }, host.open());
  assert.deepEqual(host.reports, [
    'latchkey-agent.service ran before and could not be started again: find the cause (journalctl --unit latchkey-agent.service --lines 20), then start it (systemctl start latchkey-agent.service).',
  ]);
  assert.ok(host.calls.includes('systemctl enable --quiet latchkey-agent.service'));
});

test('removes the systemd stamp of a new timer', async () => {
  using host = new FakeHost();
  const stamps = '/var/lib/systemd/timers';
  for (const unit of ['x.timer', 'apt-daily.timer']) host.write(`${stamps}/stamp-${unit}`, '');
  const subject = { unit: 'x.timer' };
  const undo = async (state: string[]) =>
    service.undo(
      { kind: 'service', subject, before: { paths: [], facts: { state } }, after: null },
      host.open(),
    );
  await undo(['enabled', 'active']);
  assert.ok(host.has(`${stamps}/stamp-x.timer`));
  await undo([]);
  assert.deepEqual(
    [host.has(`${stamps}/stamp-x.timer`), host.has(`${stamps}/stamp-apt-daily.timer`)],
    [false, true],
  );
});

test('does not start a service on undo that did not run before', async () => {
  using host = new FakeHost();
  const before = { paths: [], facts: { state: [] } };
  const entry = { kind: 'service', subject: { unit: 'x.timer' }, before, after: null } as const;
  await service.undo(entry, host.open());
  await service.afterUndo?.(entry, host.open());
  assert.deepEqual(
    host.calls.filter((call) => /restart|start|enable/u.test(call)),
    [],
  );
  assert.ok(host.calls.includes('systemctl stop x.timer'));
});
