import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { FakeHost, listEveryStep, createPackage } from '../../../test/fake-host.ts';
import { applyPlan, undoUnfinished } from './apply-plan.ts';
import { uninstall } from './undo.ts';

const program = fileURLToPath(new URL('../../../test/killed-install.ts', import.meta.url));
const folder = createPackage(mkdtempSync(join(tmpdir(), 'latchkey-agent-package-')), '1.0.0');
after(() => rmSync(folder, { recursive: true }));

type Task = 'install' | 'undo';

function run(host: FakeHost, task: Task, moment: string): NodeJS.Signals | null {
  const args = [program, host.root, folder, task, moment];
  const { signal, status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.ok(signal === 'SIGKILL' || status === 0, stderr);
  return signal;
}

/**
 * Lists the machine as a kill leaves it, at every moment at which something reaches the disk. One process runs to its end and
 * copies the machine at each moment, because a process for each moment would take many times as long.
 */
async function* killAtEachMoment(host: FakeHost, task: Task): AsyncGenerator<[FakeHost, string]> {
  const copies = mkdtempSync(join(tmpdir(), 'latchkey-agent-moments-'));
  try {
    assert.equal(run(host, task, copies), null);
    const moments = readdirSync(copies).toSorted((one, other) => Number(one) - Number(other));
    for (const moment of moments) {
      yield [new FakeHost(join(copies, moment)), `killed at moment ${moment}`];
    }
    assert.ok(moments.length > 20, `${moments.length} moments`);
  } finally {
    rmSync(copies, { recursive: true });
  }
}

const order = { steps: listEveryStep(folder), installed: '{}\n', verify: async () => undefined };

/** Leaves everything done and nothing undone, as a kill at the last step does. */
async function installHalf(host: FakeHost): Promise<void> {
  host.intercept = (command) => {
    if (command.startsWith('ufw allow')) throw new Error('killed');
    return null;
  };
  const context = host.open();
  const progress = { ...context.progress, failed: () => assert.fail('killed') };
  await assert.rejects(applyPlan(order, { ...context, progress }));
  host.intercept = () => null;
}

test('undoes an installation that was killed at any moment', async () => {
  using host = new FakeHost();
  const before = host.snapshot();
  const assertUndone = async (killed: FakeHost, moment: string): Promise<void> => {
    await undoUnfinished(killed.open());
    if (!killed.has('/var/lib/latchkey-agent-install/installed.json')) {
      assert.deepEqual(killed.snapshot(), before, moment);
    }
    await applyPlan(order, killed.open());
    await uninstall({ keepsConfiguration: false }, killed.open());
    assert.deepEqual(killed.snapshot(), before, `${moment}, then uninstalled`);
  };
  for (const moment of ['3', '23', '43']) {
    assert.equal(run(host, 'install', moment), 'SIGKILL');
    await assertUndone(host, `really killed at moment ${moment}`);
  }
  for await (const [killed, moment] of killAtEachMoment(host, 'install')) {
    await assertUndone(killed, moment);
  }
});

test('completes an undo that was killed at any moment', async () => {
  using host = new FakeHost();
  const before = host.snapshot();
  const assertUndone = async (killed: FakeHost, moment: string): Promise<void> => {
    await undoUnfinished(killed.open());
    assert.deepEqual(killed.snapshot(), before, moment);
  };
  for (const moment of ['3', '13']) {
    await installHalf(host);
    assert.equal(run(host, 'undo', moment), 'SIGKILL');
    await assertUndone(host, `really killed at moment ${moment}`);
  }
  await installHalf(host);
  for await (const [killed, moment] of killAtEachMoment(host, 'undo')) {
    await assertUndone(killed, moment);
  }
});

test('leaves the machine unchanged when the journal cannot grow, at any byte', () => {
  using host = new FakeHost();
  const before = host.snapshot();
  const args = [
    process.execPath,
    program,
    host.root,
    folder,
    'install',
    '0',
    'link',
    'file',
    'edit',
  ];
  let failures = 0;
  for (let bytes = 10; ; bytes += 257) {
    // No file may grow beyond this: a write comes to its end early, as on a disk that is nearly full.
    const { status, stderr } = spawnSync('prlimit', [`--fsize=${bytes}`, ...args], {
      encoding: 'utf8',
    });
    if (status === 0) break;
    assert.match(stderr, /EFBIG/u, `${bytes} bytes`);
    assert.deepEqual(host.snapshot(), before, `${bytes} bytes`);
    failures += 1;
  }
  assert.ok(failures > 4, `${failures} failures`);
});
