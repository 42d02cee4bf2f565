import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { FakeHost } from '../../../test/fake-host.ts';
import { messageOf } from '../../errors.ts';
import { everything, packageFolder, request, steps } from './apply-plan.fixture.ts';
import { applyPlan, undoUnfinished } from './apply-plan.ts';
import { uninstall } from './undo.ts';

const program = fileURLToPath(new URL('../../../test/killed-install.ts', import.meta.url));

type Task = 'install' | 'undo';

/** @param killAt the number of the write before which the process is killed; or a folder for copies, without a kill */
function run(host: FakeHost, task: Task, killAt: string): NodeJS.Signals | null {
  const args = [program, host.root, packageFolder, task, killAt];
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

/** Applies every step without completing or undoing the run, as a kill at the last step does. */
async function installHalf(host: FakeHost): Promise<void> {
  host.intercept = (command) => {
    if (command.startsWith('ufw allow')) throw new Error('killed');
    return null;
  };
  const context = host.open();
  const progress = { ...context.progress, failed: () => assert.fail('killed') };
  await assert.rejects(applyPlan(request, { ...context, progress }));
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
    await applyPlan(request, killed.open());
    await uninstall(everything, killed.open());
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

/** Limits the size of files that this process writes, which truncates a write as a nearly full disk does. */
function limitFileSize(bytes: number | 'unlimited'): void {
  execFileSync('prlimit', [`--pid=${process.pid}`, `--fsize=${bytes}:`]);
}

test('leaves the machine unchanged when the journal cannot grow, at any byte', async () => {
  using host = new FakeHost();
  const before = host.snapshot();
  const kinds = new Set(['link', 'file', 'edit']);
  const few = { ...request, steps: steps.filter(({ kind }) => kinds.has(kind)) };
  let failures = 0;
  for (let bytes = 10; ; bytes += 257) {
    limitFileSize(bytes);
    const failure = await applyPlan(few, host.open()).then(() => null, messageOf);
    limitFileSize('unlimited');
    if (failure === null) break;
    assert.match(failure, /EFBIG/u, `${bytes} bytes`);
    assert.deepEqual(host.snapshot(), before, `${bytes} bytes`);
    failures += 1;
  }
  assert.ok(failures > 4, `${failures} failures`);
});
