import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { type Programs, emptyPrograms, processExists } from '../../../test/programs.ts';
import { waitFor } from '../../../test/wait.ts';

import { findProgram } from '../../read/small-file.ts';
import { ToolRunner } from './tool.ts';

/** Opens a runner of a tool whose readings are lines such as `reading 5`. */
function open(programs: Programs, script: string) {
  programs.write('tool', script);
  const seen: string[] = [];
  let looks = 0;
  const runner = new ToolRunner<string>({
    name: 'tool',
    intervalMs: 1000,
    find: () => {
      looks += 1;
      return findProgram('tool', programs.searchPath);
    },
    args: () => ['-lms', '1000'],
    parse(output) {
      seen.push(String(output));
      return /reading (\d+)\n[^\n]*$/.exec(String(output))?.[1] ?? null;
    },
  });
  return {
    runner,
    seen,
    looks: () => looks,
    [Symbol.dispose]: () => runner.close(),
    /** Polls until a call at this time throws, and returns its message. */
    failure: (atMs: number) => waitFor(() => failureOf(() => runner.collect(atMs))),
  };
}

function failureOf(action: () => unknown): string | null {
  try {
    action();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

test('starts one program on the first call, and keeps its reading for three intervals', async () => {
  using programs = emptyPrograms();
  using tool = open(programs, 'echo reading 1; exec sleep 1000');
  assert.equal(tool.runner.collect(0), null);
  assert.equal(await waitFor(() => tool.runner.collect(0)), '1');
  assert.equal(tool.runner.collect(3000), '1');
  assert.equal(tool.runner.collect(3001), null);
  assert.deepEqual(programs.starts(), ['-lms 1000']);
});

test('uses the newest complete line, and waits for the rest of a partial one', async () => {
  using programs = emptyPrograms();
  using tool = open(
    programs,
    'printf "reading 1\\nread"; while [ ! -e go ]; do sleep 0.01; done; printf "ing 2\\n"; exec sleep 1000',
  );
  assert.equal(await waitFor(() => tool.runner.collect(0)), '1');
  await waitFor(() => {
    assert.equal(tool.runner.collect(0), '1');
    return tool.seen.at(-1)?.endsWith('read');
  });
  writeFileSync(join(programs.directory, 'go'), '');
  assert.equal(await waitFor(() => tool.runner.collect(0) === '2'), true);
});

test('reports once why a program ended, restarts it with backoff, and leaves no zombie', async () => {
  using programs = emptyPrograms();
  using tool = open(programs, 'echo "Failed to initialize NVML"; exit 18');
  tool.runner.collect(0);
  assert.equal(await tool.failure(0), 'tool ended: exit code 18: Failed to initialize NVML');
  let atMs = 0;
  for (const [failure, waitMs] of [2000, 4000, 8000].entries()) {
    assert.equal(tool.runner.collect(atMs + waitMs - 1), null);
    assert.equal(tool.looks(), failure + 1);
    atMs += waitMs;
    assert.equal(await tool.failure(atMs), 'tool ended: exit code 18: Failed to initialize NVML');
    assert.equal(tool.looks(), failure + 2);
  }
  assert.deepEqual(programs.pids().filter(processExists), []);
  assert.equal(programs.pids().length, 4);
});

test('limits the backoff to ten minutes, and resets it after a minute of readings', async () => {
  using programs = emptyPrograms();
  using tool = open(programs, 'exit 1');
  let atMs = 0;
  for (let failure = 1; failure <= 12; failure += 1) {
    tool.runner.collect(atMs);
    await tool.failure(atMs);
    atMs += 600_000;
  }
  programs.write(
    'tool',
    'while [ ! -e go ]; do i=$((i + 1)); echo reading $i; sleep 0.01; done; exit 3',
  );
  for (const second of [0, 20, 40, 60]) {
    const before = tool.seen.at(-1);
    const now = atMs + second * 1000;
    await waitFor(() => tool.runner.collect(now) !== null && tool.seen.at(-1) !== before);
  }
  writeFileSync(join(programs.directory, 'go'), '');
  assert.equal(await tool.failure(atMs + 60_000), 'tool ended: exit code 3');
  const before = tool.looks();
  tool.runner.collect(atMs + 61_999);
  assert.equal(tool.looks(), before);
  tool.runner.collect(atMs + 62_000);
  assert.equal(tool.looks(), before + 1);
});

test('kills a program that hangs or writes no readings', async () => {
  for (const script of [
    'exec sleep 1000',
    "trap '' TERM; while :; do echo noise; sleep 0.01; done",
  ]) {
    using programs = emptyPrograms();
    using tool = open(programs, script);
    tool.runner.collect(0);
    const [pid = 0] = await waitFor(() => programs.pids().length > 0 && programs.pids());
    assert.equal(tool.runner.collect(30_000), null);
    assert.equal(processExists(pid), true);
    assert.match(await tool.failure(30_001), /^tool ended: it wrote no reading for 30 s/);
    assert.equal(processExists(pid), false);
  }
});

test('kills a program that exceeds its output limit, and keeps little of the output', async () => {
  using programs = emptyPrograms();
  using tool = open(programs, 'exec yes "reading 7"');
  tool.runner.collect(0);
  const [pid = 0] = await waitFor(() => programs.pids().length > 0 && programs.pids());
  // The runner is not called in the meantime.
  await waitFor(() => !processExists(pid));
  assert.equal(await tool.failure(1000), 'tool ended: it exceeded its output limit');
  assert.equal(
    tool.seen.every((output) => output.length <= 32 * 1024),
    true,
  );
  assert.equal(tool.runner.collect(1000), '7');
});

test('stops the program on a pause, and restarts it at once on the next call', async () => {
  using programs = emptyPrograms();
  using tool = open(programs, 'echo reading $$; exec sleep 1000');
  const first = await waitFor(() => tool.runner.collect(0));
  tool.runner.pause();
  await waitFor(() => !processExists(Number(first)));
  const second = await waitFor(() => {
    const reading = tool.runner.collect(100_000);
    return reading !== first && reading;
  });
  assert.deepEqual(programs.pids(), [Number(first), Number(second)]);
});

test('stops the program when it is closed', async () => {
  using programs = emptyPrograms();
  using tool = open(programs, 'echo reading $$; exec sleep 1000');
  const pid = Number(await waitFor(() => tool.runner.collect(0)));
  tool.runner.close();
  await waitFor(() => !processExists(pid));
  assert.deepEqual(programs.pids(), [pid]);
});

test('searches a missing program once a minute, and reports one that cannot be started', async () => {
  using programs = emptyPrograms();
  programs.write('tool', '');
  const missing = new ToolRunner<string>({
    name: 'tool',
    intervalMs: 1000,
    find: () => join(programs.directory, 'nothing'),
    args: () => [],
    parse: String,
  });
  missing.collect(0);
  assert.match(
    (await waitFor(() => failureOf(() => missing.collect(0)))) ?? '',
    /^tool ended: spawn .*nothing ENOENT$/,
  );
  assert.equal(findProgram('nothing', programs.searchPath), null);
  assert.equal(findProgram('tool', `relative:${programs.directory}`), `${programs.directory}/tool`);
});
