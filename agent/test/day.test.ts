import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Type } from 'typebox';
import { Value } from 'typebox/value';

const DAY_SECONDS = 86_400;
/** 720 ticks, each with a changed machine. */
const INTERVAL_SECONDS = 120;

/** 50 bytes for each tick of the second half, at whose start the history is full. Runs without a leak differ by a few kilobytes. */
const MAX_GROWTH_BYTES = 360 * 50;

/** Optimised code of V8 takes about a megabyte of the heap at unpredictable times, and unused bytecode is removed at some. */
const V8_FLAGS = ['--expose-gc', '--no-opt', '--no-maglev', '--no-flush-bytecode'];

const TIMEOUT_MS = 180_000;

const Resources = Type.Object({ heapBytes: Type.Number(), openFiles: Type.Number() });
const Day = Type.Object({
  early: Resources,
  late: Resources,
  received: Type.Record(Type.String(), Type.Number()),
  warnings: Type.Array(Type.String()),
});

test(
  'in a day in which processes, containers and viewers come and go the agent does not grow',
  { timeout: TIMEOUT_MS },
  async () => {
    const script = fileURLToPath(new URL('day.ts', import.meta.url));
    const args = [...V8_FLAGS, script, String(DAY_SECONDS), String(INTERVAL_SECONDS)];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { early, late, received, warnings } = Value.Parse(Day, JSON.parse(stdout));
    assert.ok(
      late.heapBytes - early.heapBytes < MAX_GROWTH_BYTES,
      `${early.heapBytes} → ${late.heapBytes}`,
    );
    assert.equal(late.openFiles, early.openFiles);
    assert.deepEqual(warnings, []);
    // Viewers receive nine of ten ticks, and 72 hellos.
    assert.equal(received['latchkey.otlp-json.v1'], 648);
    assert.equal(received['latchkey.snapshot.v1'], 648 + 72);
    assert.equal(received['latchkey.brief.v1'], 648 + 72);
  },
);
