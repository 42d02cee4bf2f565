import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { createPackage } from '../../../test/every-step.ts';
import { FakeHost } from '../../../test/fake-host.ts';
import { paths } from '../paths.ts';
import type { RunProgram } from '../../system/run-program.ts';
import { afterEdit, everything, request, steps } from './apply-plan.fixture.ts';
import { applyPlan, undoUnfinished } from './apply-plan.ts';
import { uninstall } from './undo.ts';

/** Programs whose exit code is a result and not a failure. */
const QUERIES = /is-active|is-enabled|pgrep|nginx -v/u;

describe('an installation', () => {
  test('applies every step in order, and keeps a journal', async () => {
    using host = new FakeHost();
    assert.equal(await applyPlan(request, host.open()), true);
    assert.deepEqual(
      host.progress.map((line) => line.split(':')[0]),
      Array.from({ length: steps.length + 1 }, () => 'done'),
    );
    assert.equal(host.read(`${paths.journal}/installed.json`), request.installed);
    const { done, unfinished } = host.open().journal;
    assert.deepEqual(
      [done.map(({ kind }) => kind), unfinished],
      [steps.map(({ kind }) => kind), null],
    );
    assert.match(host.read('/etc/nginx/sites-available/other'), /latchkey-agent/u);
    assert.equal(host.snapshot()['etc/nginx/sites-enabled/other'], 'link ../sites-available/other');
  });

  test('changes nothing when applied again', async () => {
    using host = new FakeHost();
    await applyPlan(request, host.open());
    const [before, times] = [host.snapshot(), host.times()];
    const again = { ...request, steps: afterEdit(steps) };
    assert.equal(await applyPlan(again, host.open()), false);
    assert.deepEqual([host.snapshot(), host.times()], [before, times]);
  });

  test('is undone from any step', async () => {
    using host = new FakeHost();
    const before = host.snapshot();
    for (let stop = 1; stop <= steps.length + 1; stop += 1) {
      let count = 0;
      host.checkInterruption = () => {
        count += 1;
        if (count >= stop) throw new Error('stopped');
      };
      await assert.rejects(applyPlan(request, host.open()), { message: 'stopped' });
      assert.deepEqual(host.snapshot(), before, `stopped before step ${stop}`);
    }
  });

  test('is undone whichever program fails', async () => {
    using host = new FakeHost();
    const before = host.snapshot();
    await applyPlan(request, host.open());
    await uninstall(everything, host.open());
    const programs = host.calls.length;
    let failed = 0;
    for (let failing = 1; failing <= programs; failing += 1) {
      host.calls.length = 0;
      host.intercept = (command, count) =>
        count === failing && !QUERIES.test(command) ? { code: 1, stderr: 'not now' } : null;
      const end = await applyPlan(request, host.open()).catch((error: unknown) => error);
      host.intercept = () => null;
      if (end instanceof Error) {
        failed += 1;
        assert.deepEqual(host.snapshot(), before, `${host.calls[failing - 1]} failed`);
      } else await uninstall(everything, host.open());
      assert.deepEqual(host.snapshot(), before);
    }
    assert.ok(failed > 8, `${failed} failures`);
  });

  test('is interrupted at any step, but its undo is not', async () => {
    using host = new FakeHost();
    const ownSessions: boolean[] = [];
    const context = host.open();
    const runProgram: RunProgram = async (program, args, options) => {
      ownSessions.push(options?.hasOwnSession === true);
      return context.runProgram(program, args, options);
    };
    let applied = 0;
    const verify = async () => {
      applied = ownSessions.length;
      throw new Error('no');
    };
    await assert.rejects(applyPlan({ ...request, verify }, { ...context, runProgram }));
    assert.ok(
      applied > 8 && ownSessions.length > applied + 8,
      `${applied} of ${ownSessions.length}`,
    );
    assert.equal(ownSessions.lastIndexOf(false), applied - 1);
    assert.equal(ownSessions.indexOf(true), applied);
  });

  test('is undone when its verification fails', async () => {
    using host = new FakeHost();
    const before = host.snapshot();
    const broken = { ...request, verify: () => Promise.reject(new Error('no answer')) };
    await assert.rejects(applyPlan(broken, host.open()), /no answer/u);
    assert.deepEqual(host.snapshot(), before);
  });

  test('leaves nothing when the journal cannot be written', async () => {
    using host = new FakeHost();
    const before = host.snapshot();
    const context = host.open();
    context.journal.begin = () => {
      throw new Error('full');
    };
    const edit = steps.filter(({ kind }) => kind === 'edit');
    await assert.rejects(applyPlan({ ...request, steps: edit }, context), { message: 'full' });
    assert.deepEqual(host.snapshot(), before);
  });

  test('does not restore the program of a run that was killed at its end', async () => {
    using host = new FakeHost();
    await applyPlan(request, host.open());
    const before = host.snapshot();
    createPackage(host.at('/usr/lib/.latchkey-agent-old'), '0.9.0');
    assert.equal(await undoUnfinished(host.open()), false);
    assert.deepEqual(host.snapshot(), before);
  });

  test('continues an undo after a failed step, and reports it', async () => {
    using host = new FakeHost();
    const before = host.snapshot();
    host.intercept = (command) => {
      if (command.startsWith('ufw allow')) return { code: 1, stderr: 'no firewall' };
      return command.startsWith('userdel') ? { code: 1, stderr: 'user is logged in' } : null;
    };
    await assert.rejects(
      applyPlan(request, host.open()),
      /Not undone \(user .*user is logged in/su,
    );
    assert.equal(host.has(paths.configuration), false);
    assert.match(host.read('/etc/passwd'), /latchkey-agent/u);
    host.intercept = () => null;
    assert.equal(await undoUnfinished(host.open()), true);
    assert.deepEqual(host.snapshot(), before);
  });
});

test('waits for a certbot that outlived its installer before it removes the certificate', async () => {
  using host = new FakeHost();
  const before = host.snapshot();
  let asked = 0;
  host.intercept = (command) => {
    if (command.startsWith('certbot certonly')) return { code: null, fault: 'It was cut off.' };
    if (command !== 'certbot certificates') return null;
    asked += 1;
    if (asked < 3) return { code: 1, stderr: 'Another instance of Certbot is already running.' };
    host.write('/etc/letsencrypt/live/monitor.example.test/fullchain.pem', 'late');
    return null;
  };
  await assert.rejects(applyPlan(request, host.open()), /It was cut off/u);
  assert.equal(asked, 3);
  assert.deepEqual(host.snapshot(), before);
});
