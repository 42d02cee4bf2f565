import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Type } from 'typebox';
import { Value } from 'typebox/value';

const DAY_SECONDS = 86_400;
const INTERVAL_SECONDS = 10;
const MEBIBYTE = 2 ** 20;

/** It takes most of a minute of a processor, and more of one that is shared. */
const PATIENCE_MS = 5 * 60_000;

const Holding = Type.Object({ heapBytes: Type.Number(), openFiles: Type.Number() });
const Day = Type.Object({
  early: Holding,
  late: Holding,
  received: Type.Record(Type.String(), Type.Number()),
  warnings: Type.Array(Type.String()),
});

test(
  'in a day in which processes, containers and viewers come and go the agent does not grow',
  { timeout: PATIENCE_MS },
  async () => {
    const script = fileURLToPath(new URL('day.ts', import.meta.url));
    const wishes = ['--expose-gc', script, String(DAY_SECONDS), String(INTERVAL_SECONDS)];
    const { stdout } = await promisify(execFile)(process.execPath, wishes);
    const { early, late, received, warnings } = Value.Parse(Day, JSON.parse(stdout));
    assert.ok(
      late.heapBytes - early.heapBytes < MEBIBYTE,
      `${early.heapBytes} → ${late.heapBytes}`,
    );
    assert.equal(late.openFiles, early.openFiles);
    assert.deepEqual(warnings, []);
    // Of each ten minutes the viewers see nine, and 144 times they are greeted.
    assert.equal(received['latchkey.otlp-json.v1'], 7_776);
    assert.equal(received['latchkey.snapshot.v1'], 7_776 + 144);
  },
);
