import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import { MachineHistory } from './machine-history.ts';
import { HISTORY_SLOTS } from './types.ts';

const START = 1_800_000_000;

/** A page with one machine, whose load is the number of the agent's tick. */
class Page {
  readonly clock = { end: START };
  readonly history = new MachineHistory(this.clock);

  /** @param nowMs since START */
  moveTo(nowMs: number): void {
    const end = START + Math.floor((nowMs - 500) / 1000);
    const seconds = end - this.clock.end;
    if (seconds <= 0) return;
    this.clock.end = end;
    this.history.advance(seconds);
  }

  /** @param ticks agent's time in milliseconds since START, and the load */
  points(
    nowMs: number,
    ticks: readonly (readonly [ms: number, load: number])[],
    interval = 1,
  ): void {
    this.moveTo(nowMs);
    const [newestMs = 0] = ticks.at(-1) ?? [];
    this.history.align(START * 1000 + newestMs, START * 1000 + nowMs);
    for (const [ms, load] of ticks) {
      this.history.write(START * 1000 + ms, { load_1m: load }, interval);
    }
  }

  hello(
    nowMs: number,
    ticks: readonly (readonly [ms: number, load: number])[],
    interval = 1,
  ): void {
    this.moveTo(nowMs);
    const times = ticks.map(([ms]) => START * 1000 + ms);
    const columns = { load_1m: ticks.map(([, load]) => load) };
    const arrivedMs = START * 1000 + nowMs;
    this.history.merge(times, columns, { arrivedMs, intervalSeconds: interval });
  }

  /** The newest loads at a time, oldest first; null in gaps. */
  read(nowMs: number, count: number): (number | null)[] {
    this.moveTo(nowMs);
    const loads = Array.from(this.history.columns.load_1m.subarray(HISTORY_SLOTS - count));
    return loads.map((load) => (Number.isNaN(load) ? null : load));
  }
}

describe('history on the common clock', () => {
  test('puts the newest point of a hello and the points after it on the seconds of their arrival', () => {
    const page = new Page();
    page.hello(1300, [
      [-800, 1],
      [200, 2],
      [1200, 3],
    ]);
    page.points(2210, [[2200, 4]]);
    page.points(3210, [[3200, 5]]);
    assert.deepEqual(page.read(4500, 6), [null, 1, 2, 3, 4, 5]);
    assert.equal(page.history.end, START + 4);
  });

  test('ignores how far an agent’s clock is off', () => {
    const loads = [0, 3_600_000, -86_400_000].map((offMs) => {
      const page = new Page();
      page.hello(1300, [[offMs + 200, 2]]);
      page.points(1310, [[offMs + 1200, 3]]);
      page.points(2310, [[offMs + 2200, 4]]);
      return page.read(3500, 4);
    });
    assert.deepEqual(loads[0], [null, 2, 3, 4]);
    assert.deepEqual(loads, [loads[0], loads[0], loads[0]]);
  });

  test('keeps the distances of several points in one message', () => {
    const page = new Page();
    page.hello(1100, [[1000, 1]]);
    page.points(5100, [
      [2000, 2],
      [3000, 3],
      [4000, 4],
      [5000, 5],
    ]);
    assert.deepEqual(page.read(6500, 6), [null, 1, 2, 3, 4, 5]);
  });

  test('fills the seconds of a longer interval, and none after a gap', () => {
    const page = new Page();
    page.hello(5100, [[5000, 1]], 5);
    page.points(10_100, [[10_000, 2]], 5);
    page.points(40_100, [[40_000, 3]], 5);
    const loads = page.read(41_500, 42);
    assert.deepEqual(loads.slice(1, 12), [null, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2]);
    assert.deepEqual(loads.slice(-7), [null, null, 3, 3, 3, 3, 3]);
  });

  test('a late message fills its own second', () => {
    const page = new Page();
    page.hello(1100, [[1000, 1]]);
    page.points(2100, [[2000, 2]]);
    for (const [tick, load] of [
      [3000, 3],
      [4000, 4],
      [5000, 5],
    ] as const) {
      page.points(5100, [[tick, load]]);
    }
    assert.deepEqual(page.read(6500, 5), [1, 2, 3, 4, 5]);
  });

  test('stays on its seconds while messages arrive shortly before and after full ones', () => {
    const page = new Page();
    page.hello(2010, [[1950, 1]]);
    page.points(2960, [[2950, 2]]);
    page.points(4010, [[3950, 3]]);
    assert.deepEqual(page.read(6500, 4), [1, 2, 3, null]);
  });

  test('a hello after a lost connection fills the gap, and doubles nothing', () => {
    const page = new Page();
    page.hello(1100, [[1000, 1]]);
    page.points(2100, [[2000, 2]]);
    page.hello(
      6900,
      [1, 2, 3, 4, 5, 6].map((tick) => [tick * 1000, tick] as const),
    );
    page.points(7100, [[7000, 7]]);
    assert.deepEqual(page.read(8500, 8), [null, 1, 2, 3, 4, 5, 6, 7]);
  });

  test('keeps what an agent that restarted has lost', () => {
    const page = new Page();
    page.hello(1100, [[1000, 1]]);
    page.points(2100, [[2000, 2]]);
    page.hello(6100, [[6000, 6]]);
    assert.deepEqual(page.read(7500, 7), [null, 1, 2, null, null, null, 6]);
  });

  test('keeps a figure that a hello lacks', () => {
    const page = new Page();
    page.points(1100, [[1000, 1]]);
    const arrivedMs = START * 1000 + 1200;
    const columns = { load_1m: [null], memory_usage_ratio: [0.5] };
    page.history.merge([START * 1000 + 1000], columns, { arrivedMs, intervalSeconds: 1 });
    assert.deepEqual(page.read(2500, 2), [null, 1]);
    assert.equal(page.history.columns.memory_usage_ratio.at(-1), 0.5);
  });

  test('never shows one figure in the column of another', () => {
    const page = new Page();
    for (let second = 1; second <= 300; second += 1) {
      page.points(second * 1000 + 100, [[second * 1000, second]]);
      page.history.write((START + second) * 1000, { memory_usage_ratio: 0.5 }, 1);
    }
    page.moveTo(420_500);
    for (const column of Object.values(page.history.columns)) {
      assert.ok(column.subarray(-100).every(Number.isNaN));
    }
  });

  test('follows an agent’s clock that is set, forward and back', () => {
    for (const leapMs of [3_600_000, -3_600_000]) {
      const page = new Page();
      page.hello(1100, [[1000, 1]]);
      page.points(2100, [[2000, 2]]);
      page.points(3100, [[3000 + leapMs, 3]]);
      page.points(4100, [[4000 + leapMs, 4]]);
      assert.deepEqual(page.read(5500, 5), [null, 1, 2, 3, 4]);
    }
  });

  test('a clock of the page that is set back changes no distance', () => {
    const page = new Page();
    const backMs = 3_600_000;
    page.hello(5100, [[5000, 1]], 5);
    page.clock.end -= backMs / 1000;
    page.history.relabel(-backMs / 1000);
    page.points(10_100 - backMs, [[10_000, 2]], 5);
    assert.deepEqual(page.read(11_500 - backMs, 11), [null, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2]);
  });

  test('forgets what is older than five minutes', () => {
    const page = new Page();
    page.hello(1100, [[1000, 1]]);
    assert.deepEqual(page.read(301_500, 300).slice(0, 2), [1, null]);
    assert.ok(page.read(302_500, 300).every((load) => load === null));
  });

  test('ignores values that are no figures, and times outside of the window', () => {
    const page = new Page();
    page.points(1100, [[1000, 1]]);
    for (const load of [-1, '2', null, Number.POSITIVE_INFINITY, {}]) {
      page.history.write(START * 1000 + 1000, { load_1m: load }, 1);
    }
    page.history.write(START * 1000 + 1e12, { load_1m: 7 }, 1);
    page.history.write(START * 1000 - 1e12, { load_1m: 8 }, 1);
    assert.ok(page.read(2500, 300).every((load) => load === null));
  });
});

/** An agent, the network to it, and when the page is connected. */
const scenario = fc.record({
  phaseMs: fc.integer({ min: 0, max: 999 }),
  offMs: fc.integer({ min: -1e9, max: 1e9 }),
  jitters: fc.array(fc.integer({ min: 0, max: 200 }), { minLength: 60, maxLength: 60 }),
  batch: fc.constantFrom(1, 1, 4, 10),
  /** Ticks at which the connection is lost, and for how many ticks. */
  losses: fc.array(fc.tuple(fc.integer({ min: 2, max: 55 }), fc.integer({ min: 1, max: 20 })), {
    maxLength: 4,
  }),
  helloDelayMs: fc.integer({ min: 0, max: 999 }),
});

test('each tick has exactly one second, whatever the clocks, the network and the connections', () => {
  fc.assert(
    fc.property(scenario, ({ phaseMs, offMs, jitters, batch, losses, helloDelayMs }) => {
      const page = new Page();
      const timeOf = (tick: number): number => tick * 1000 + phaseMs;
      const toPoint = (tick: number) => [timeOf(tick) + offMs, tick] as const;
      const isLost = (tick: number): boolean =>
        losses.some(([from, count]) => tick >= from && tick < from + count);
      let sent = 0;
      const pending: (readonly [number, number])[] = [];
      for (const [tick, jitterMs] of jitters.entries()) {
        if (isLost(tick)) {
          sent = 0;
          pending.length = 0;
          continue;
        }
        if (sent === 0) {
          const all = Array.from({ length: tick + 1 }, (_, at) => toPoint(at));
          // Before the next tick.
          page.hello(timeOf(tick) + Math.min(999, helloDelayMs + jitterMs), all);
          sent = 1;
          continue;
        }
        pending.push(toPoint(tick));
        if (pending.length < batch) continue;
        page.points(timeOf(tick) + jitterMs, pending.splice(0));
      }
      const finite = page
        .read(64_000, 70)
        .flatMap((load, at) => (load === null ? [] : [[load, at]]));
      const [[firstLoad = 0, firstAt = 0] = []] = finite;
      assert.equal(firstLoad, 0);
      for (const [load = 0, at = 0] of finite) assert.equal(load - firstLoad, at - firstAt);
      const seen = jitters.length - pending.length;
      const lastSeen = Math.max(...finite.map(([load = 0]) => load));
      if (!isLost(59) && batch === 1) assert.equal(finite.length, seen);
      assert.equal(finite.length, lastSeen + 1, 'no holes: a hello brings what was missed');
    }),
    { numRuns: 300 },
  );
});
