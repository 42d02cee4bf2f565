/**
 * Installs on the fake machine in a folder, and kills itself at the n-th write to the disk.
 * `node killed-install.ts FOLDER PACKAGE install|undo N`; exit code 0 when there are fewer writes. With a folder as N it is not
 * killed, but copies the state before each write to that folder, as `1`, `2` and so on.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isAbsolute, join } from 'node:path';

import { listEveryStep } from './every-step.ts';
import { FakeHost } from './fake-host.ts';

const [folder = '', packageFolder = '', task = '', target = ''] = process.argv.slice(2);

/** An installation writes journal lines and files by `fsync`; an undo uses the other calls, too. */
const countedCalls =
  task === 'install'
    ? (['fsyncSync'] as const)
    : (['fsyncSync', 'renameSync', 'rmSync', 'mkdirSync', 'symlinkSync'] as const);

let count = 0;
for (const name of countedCalls) {
  const original: (...args: never[]) => unknown = fs[name];
  Object.assign(fs, {
    [name]: (...args: never[]) => {
      count += 1;
      if (isAbsolute(target)) execFileSync('cp', ['-a', folder, join(target, String(count))]);
      else if (count === Number(target)) process.kill(process.pid, 'SIGKILL');
      return original(...args);
    },
  });
}
syncBuiltinESMExports();

// Imported after the replacement, so that these modules use the counting functions.
const { applyPlan, undoUnfinished } = await import('#agent/install/apply/apply-plan.ts');
const host = new FakeHost(folder);
if (task === 'undo') await undoUnfinished(host.open());
else {
  const order = { installed: '{}\n', verify: async () => undefined };
  const steps = listEveryStep(packageFolder);
  await applyPlan({ ...order, steps }, host.open());
}
