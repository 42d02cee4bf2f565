import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';

import { FakeHost } from '../../../../test/fake-host.ts';
import { agentUser } from '../../paths.ts';
import { user } from './user.ts';

test('does not touch backup files of the account tools', async () => {
  using host = new FakeHost();
  const context = host.open();
  await user.apply({ kind: 'user', name: agentUser }, context, { paths: [], facts: {} });
  host.write('/etc/shadow-', 'root:older:\n');
  const runProgram: typeof context.runProgram = async (...call) => {
    if (call[0] === 'userdel') host.write('/etc/shadow-', 'root:newer:\n');
    return context.runProgram(...call);
  };
  const before = { paths: [], facts: { existing: [] } };
  const subject = { name: agentUser };
  await user.undo({ kind: 'user', subject, before, after: null }, { ...context, runProgram });
  assert.equal(host.read('/etc/shadow-'), 'root:newer:\n');
});

test('writes nothing on undo without a created user', async () => {
  using host = new FakeHost();
  host.write('/etc/passwd-', 'root:x:0:0::/root:\n');
  const before = statSync(host.at('/etc/passwd-')).ino;
  const entry = {
    kind: 'user',
    subject: { name: agentUser },
    before: { paths: [], facts: { existing: [] } },
    after: null,
  } as const;
  await user.undo(entry, host.open());
  assert.equal(statSync(host.at('/etc/passwd-')).ino, before);
  assert.deepEqual(host.calls, []);
});
