import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const MODULE = new URL('interruption.ts', import.meta.url).href;

/** Runs a process that sends itself a signal during or after its work. */
function interrupt(when: 'during' | 'after', name = 'SIGINT'): unknown {
  const script = `
    import { watchInterruption } from '${MODULE}';
    // It is there before the event loop waits for anything.
    const press = async () => {
      process.kill(process.pid, '${name}');
      await new Promise((resolve) => setTimeout(resolve, 50));
    };
    {
      using interruption = watchInterruption(() => console.log('notified'));
      if ('${when}' === 'during') await press();
      console.log(interruption.stopped()?.exitCode ?? 'not stopped');
    }
    if ('${when}' === 'after') await press();
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
