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

/** @param killAt the number of the write before which the process is killed; or a folder for copies, without a kill */
function run(host: FakeHost, task: Task, killAt: string): NodeJS.Signals | null {
  const args = [program, host.root, folder, task, killAt];
  const { signal, status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.ok(signal === 'SIGKILL' || status === 0, stderr);
  return signal;
}

/**
 * Lists the machine before each write to the disk, as a kill would leave it. One process runs to its end and copies the machine
 * before each write, because a process for each write would take many times as long.
 */
async function* killBeforeEachWrite(
  host: FakeHost,
  task: Task,
): AsyncGenerator<[FakeHost, string]> {
  const copies = mkdtempSync(join(tmpdir(), 'latchkey-agent-killed-'));
  try {
    assert.equal(run(host, task, copies), null);
    const writes = readdirSync(copies).toSorted((one, other) => Number(one) - Number(other));
    for (const write of writes) {
      yield [new FakeHost(join(copies, write)), `killed before write ${write}`];
    }
    assert.ok(writes.length > 20, `${writes.length} writes`);
  } finally {
    rmSync(copies, { recursive: true });
  }
}

const order = { steps: listEveryStep(folder), installed: '{}\n', verify: async () => undefined };

/** Applies every step without completing or undoing the run, as a kill at the last step does. */
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

test('undoes an installation that was killed before any write', async () => {
  using host = new FakeHost();
  const before = host.snapshot();
  const assertUndone = async (killed: FakeHost, when: string): Promise<void> => {
    await undoUnfinished(killed.open());
    if (!killed.has('/var/lib/latchkey-agent-install/installed.json')) {
      assert.deepEqual(killed.snapshot(), before, when);
    }
    await applyPlan(order, killed.open());
    await uninstall({ keepsConfiguration: false }, killed.open());
    assert.deepEqual(killed.snapshot(), before, `${when}, then uninstalled`);
  };
  for (const write of ['3', '23', '43']) {
    assert.equal(run(host, 'install', write), 'SIGKILL');
    await assertUndone(host, `really killed before write ${write}`);
  }
  for await (const [killed, when] of killBeforeEachWrite(host, 'install')) {
    await assertUndone(killed, when);
  }
});

test('completes an undo that was killed before any write', async () => {
  using host = new FakeHost();
  const before = host.snapshot();
  const assertUndone = async (killed: FakeHost, when: string): Promise<void> => {
    await undoUnfinished(killed.open());
    assert.deepEqual(killed.snapshot(), before, when);
  };
  for (const write of ['3', '13']) {
    await installHalf(host);
    assert.equal(run(host, 'undo', write), 'SIGKILL');
    await assertUndone(host, `really killed before write ${write}`);
  }
  await installHalf(host);
  for await (const [killed, when] of killBeforeEachWrite(host, 'undo')) {
    await assertUndone(killed, when);
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
    // The limit on file sizes truncates a write, as a nearly full disk does.
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
