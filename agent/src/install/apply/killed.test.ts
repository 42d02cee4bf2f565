import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { FakeHost, listEveryStep, makePackage } from '../../../test/fake-host.ts';
import { applyPlan, undoUnfinished } from './apply-plan.ts';
import { uninstall } from './undo.ts';

const program = fileURLToPath(new URL('../../../test/killed-install.ts', import.meta.url));
const folder = makePackage(mkdtempSync(join(tmpdir(), 'latchkey-agent-package-')), '1.0.0');
after(() => rmSync(folder, { recursive: true }));

/** @returns whether it was killed before its end */
function runKilled(host: FakeHost, task: 'install' | 'undo', moment: number): boolean {
  const args = [program, host.root, folder, task, `${moment}`];
  const { signal, status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.ok(signal === 'SIGKILL' || status === 0, stderr);
  return signal === 'SIGKILL';
}

test('undoes an installation that was killed at any moment', async () => {
  using host = new FakeHost();
  const before = host.snapshot();
  const order = { steps: listEveryStep(folder), installed: '{}\n', verify: async () => undefined };
  let moment = 1;
  for (; runKilled(host, 'install', moment); moment += 1) {
    await undoUnfinished(host.open());
    if (!host.has('/var/lib/latchkey-agent-install/installed.json')) {
      assert.deepEqual(host.snapshot(), before, `killed at moment ${moment}`);
    }
    await applyPlan(order, host.open());
    await uninstall({ keepsConfiguration: false }, host.open());
    assert.deepEqual(host.snapshot(), before, `killed at moment ${moment}, then uninstalled`);
  }
  assert.ok(moment > 40, `${moment} moments`);
});

test('completes an undo that was killed at any moment', async () => {
  using host = new FakeHost();
  const before = host.snapshot();
  const steps = listEveryStep(folder);
  let moment = 1;
  for (let wasKilled = true; wasKilled; moment += 3) {
    host.intercept = (command) => {
      // As a run that was killed leaves it: everything done, and nothing undone.
      if (command.startsWith('ufw allow')) throw new Error('killed');
      return null;
    };
    const context = host.open();
    const progress = { ...context.progress, failed: () => assert.fail('killed') };
    await assert.rejects(
      applyPlan(
        { steps, installed: '{}\n', verify: async () => undefined },
        { ...context, progress },
      ),
    );
    host.intercept = () => null;
    wasKilled = runKilled(host, 'undo', moment);
    await undoUnfinished(host.open());
    assert.deepEqual(host.snapshot(), before, `killed at moment ${moment}`);
  }
  assert.ok(moment > 20, `${moment} moments`);
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
