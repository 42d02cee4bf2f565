/**
 * Installs on the fake machine in a folder, and is killed at the n-th moment at which something reaches the disk.
 * `node killed-install.ts FOLDER PACKAGE install|undo N [KIND...]`; exit code 0 when there is no n-th moment. Only the steps of
 * these kinds are installed, if any is named. With a folder in place of N it is not killed: what a kill would leave at each
 * moment is copied to that folder, as `1`, `2` and so on.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isAbsolute, join } from 'node:path';

import { FakeHost, listEveryStep } from './fake-host.ts';

const [folder = '', packageFolder = '', task = '', moment = '', ...kinds] = process.argv.slice(2);

/** Each line of the journal and each file reach the disk by `fsync`; all that is undone goes by the others. */
const moments =
  task === 'install'
    ? (['fsyncSync'] as const)
    : (['fsyncSync', 'renameSync', 'rmSync', 'mkdirSync', 'symlinkSync'] as const);

let count = 0;
for (const name of moments) {
  const original: (...args: never[]) => unknown = fs[name];
  Object.assign(fs, {
    [name]: (...args: never[]) => {
      count += 1;
      if (isAbsolute(moment)) execFileSync('cp', ['-a', folder, join(moment, String(count))]);
      else if (count === Number(moment)) process.kill(process.pid, 'SIGKILL');
      return original(...args);
    },
  });
}
syncBuiltinESMExports();

// Only now: what they import must be what counts.
const { applyPlan, undoUnfinished } = await import('#agent/install/apply/apply-plan.ts');
const host = new FakeHost(folder);
if (task === 'undo') await undoUnfinished(host.open());
else {
  const order = { installed: '{}\n', verify: async () => undefined };
  const steps = listEveryStep(packageFolder).filter(
    ({ kind }) => kinds.length === 0 || kinds.includes(kind),
  );
  await applyPlan({ ...order, steps }, host.open());
}
