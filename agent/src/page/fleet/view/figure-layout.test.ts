import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createFakeFleet } from '../core/fake-fleet.fixture.ts';
import { HISTORY_SLOTS } from '../core/types.ts';
import { findLargest, readHistory } from './curve.ts';
import { findCell, layOutFigure } from './figure-layout.ts';
import { chooseScale } from './figure-scale.ts';
import { findQuantity } from './quantities.ts';

const options = {
  width: 700,
  height: null,
  room: 800,
  groups: [7, 3],
  hasCaptions: true,
  hasWideValues: false,
};

test('places one cell for each machine without overlap, each group in rows of its own', () => {
  const { cells, captions, height } = layOutFigure(options);
  assert.deepEqual([cells.length, captions.length], [10, 2]);
  for (const [at, cell] of cells.entries()) {
    assert.ok(cell.x >= 0 && cell.x + cell.width <= options.width);
    assert.ok(cell.y + cell.height <= height);
    assert.equal(findCell(layOutFigure(options), cell.x + 1, cell.y + 1), at);
  }
  const [first, second] = [cells[6], cells[7]];
  assert.ok(first !== undefined && second !== undefined && second.y > first.y + first.height);
});

test('fills the height of a wall, and stays within it', () => {
  for (const [width, height, count] of [
    [1920, 900, 100],
    [3840, 1900, 150],
    [800, 1200, 1],
  ] as const) {
    const groups = [count];
    const layout = layOutFigure({ ...options, width, height, groups, hasCaptions: false });
    assert.ok(layout.height <= height + 1 && layout.height > height * 0.9, `${count}`);
  }
});

test('has no cells without machines or without width', () => {
  assert.equal(layOutFigure({ ...options, groups: [] }).cells.length, 0);
  assert.equal(layOutFigure({ ...options, width: 0 }).cells.length, 0);
});

test('has one scale for all machines: ratios to 100 %, amounts rounded up, rates logarithmic', () => {
  const cpu = chooseScale(findQuantity('cpu'), 0.3);
  assert.deepEqual([cpu.range, cpu.toRatio(0.3)], ['0 to 100\u00a0%', 0.3]);
  const load = chooseScale(findQuantity('load'), 3.2);
  assert.deepEqual([load.range, load.toRatio(2.5)], ['0 to 5', 0.5]);
  const network = chooseScale(findQuantity('network'), 2e8);
  assert.equal(network.range, '1\u00a0kB/s to 1\u00a0GB/s, logarithmic');
  assert.equal(network.toRatio(1e6).toFixed(3), '0.500');
  assert.deepEqual([network.toRatio(0), network.toRatio(5e9)], [0, 1]);
});

test('adds up what a machine receives and sends, keeps gaps, and divides load by processors', () => {
  const { machines } = createFakeFleet(60);
  const [machine, withHole] = [machines[0], machines[52]];
  assert.ok(machine !== undefined && withHole !== undefined);
  const values = new Float32Array(HISTORY_SLOTS);
  readHistory(findQuantity('network'), machine, values);
  const { receive_bytes_per_second: received, transmit_bytes_per_second: sent } =
    machine.history.columns;
  assert.equal(values[7], Math.fround((received[7] ?? 0) + (sent[7] ?? 0)));
  readHistory(findQuantity('load'), machine, values);
  assert.equal(values[7], Math.fround((machine.history.columns.load_1m[7] ?? 0) / 16));
  readHistory(findQuantity('cpu'), withHole, values);
  assert.ok(Number.isNaN(values[150]) && !Number.isNaN(values[180]));
  assert.ok(findLargest(findQuantity('load'), machines) <= 1);
});
