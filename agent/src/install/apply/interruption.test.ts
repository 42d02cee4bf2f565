import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';

const MODULE = new URL('interruption.ts', import.meta.url).href;

/** Runs a process that sends itself a signal during or after its work. */
function interrupt(when: 'during' | 'after', name = 'SIGINT'): unknown {
  const script = `
    import { watchInterruption } from '${MODULE}';
    const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    const press = () => process.kill(process.pid, '${name}');
    {
      using interruption = watchInterruption(() => console.log('notified'));
      if ('${when}' === 'during') {
        press();
        while (interruption.stopped() === null) await sleep(1);
      }
      console.log(interruption.stopped()?.exitCode ?? 'not stopped');
    }
    if ('${when}' === 'after') {
      press();
      // A signal that nobody handles would end the process now.
      await sleep(50);
    }
  `;
  const { status, signal, stdout } = spawnSync(
    process.execPath,
    ['--input-type=module-typescript', '--eval', script],
    { encoding: 'utf8' },
  );
  return [status, signal, stdout];
}

test('reports a stop signal and keeps it until it is checked', () => {
  assert.deepEqual(interrupt('during'), [0, null, 'notified\n130\n']);
});

test('ignores a signal after disposal', () => {
  assert.deepEqual(interrupt('after'), [0, null, 'not stopped\n']);
});

test('handles SIGQUIT, which a terminal sends for Ctrl-\\, like the other stop signals', () => {
  assert.deepEqual(interrupt('during', 'SIGQUIT'), [0, null, 'notified\n131\n']);
});

test('ignores signals until the process has ended', async () => {
  const script = `
    import { watchInterruption } from '${MODULE}';
    { using interruption = watchInterruption(() => undefined); }
    process.exitCode = 3;
    setTimeout(() => console.log('ends'), 20);
  `;
  // Without protection, more than nine of ten such processes are killed.
  for (let round = 0; round < 5; round++) {
    const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', script]);
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    const pressing = setInterval(() => child.kill('SIGINT'), 0);
    const end: unknown = await ended.finally(() => clearInterval(pressing));
    assert.deepEqual(end, [3, null]);
  }
});
