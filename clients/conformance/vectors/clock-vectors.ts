/** What happens at a time of the device. */
export interface ClockStep {
  readonly device_ms: number;
  /** The time of the service in an answer that counts; null: no answer. */
  readonly service_ms: number | null;
}

/** What the client knows after a step. */
export interface ClockReading {
  readonly now_ms: number;
  readonly clock_went_back: boolean;
}

/** A sequence of steps from a new state. */
export interface ClockVector {
  readonly name: string;
  readonly steps: readonly ClockStep[];
  readonly expected: readonly ClockReading[];
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** 2027-01-15T08:00:00Z */
const START = 1_800_000_000_000;

/** Times are relative to {@link START}, in milliseconds: device, service (null: no answer), now. */
type Row = readonly [device: number, service: number | null, now: number, wentBack?: boolean];

/** Returns sequences of device times and answers, with the time that the client takes for the present. */
export function listClockVectors(): ClockVector[] {
  return [...listSmallDifferences(), ...listLargeDifferences(), ...listSteppedClocks()];
}

function listSmallDifferences(): ClockVector[] {
  return [
    sequence('a device that was never answered', [
      [0, null, 0],
      [DAY, null, DAY],
    ]),
    sequence('a device with the time of the service', [
      [0, 0, 0],
      [DAY, null, DAY],
      [DAY + HOUR, DAY + HOUR, DAY + HOUR],
    ]),
    sequence('less than five minutes ahead: not corrected', [
      [5 * MINUTE - 1, 0, 5 * MINUTE - 1],
      [HOUR, null, HOUR],
    ]),
    sequence('five minutes ahead: corrected', [
      [5 * MINUTE, 0, 0],
      [HOUR, null, HOUR - 5 * MINUTE],
    ]),
    sequence('less than five minutes behind: not corrected, never before the service', [
      [-5 * MINUTE + 1, 0, 0],
      [HOUR, null, HOUR],
    ]),
    sequence('five minutes behind: corrected', [
      [-5 * MINUTE, 0, 0],
      [HOUR, null, HOUR + 5 * MINUTE],
    ]),
  ];
}

function listLargeDifferences(): ClockVector[] {
  return [
    sequence('a year ahead', [
      [365 * DAY, 0, 0],
      [366 * DAY, null, DAY],
    ]),
    sequence('a clock that stands in 1970', [
      [-START, 0, 0],
      [-START + HOUR, null, HOUR],
    ]),
    sequence('a difference that disappears with the next answer', [
      [DAY, 0, 0],
      [HOUR, HOUR, HOUR],
      [2 * HOUR, null, 2 * HOUR],
    ]),
    sequence('an answer that is older than the last one', [
      [0, 0, 0],
      [HOUR, -DAY, 0, true],
      [2 * HOUR, 2 * HOUR, 2 * HOUR],
    ]),
  ];
}

function listSteppedClocks(): ClockVector[] {
  return [
    sequence('back by an hour: within the tolerance', [
      [0, 0, 0],
      [-HOUR, null, 0],
    ]),
    sequence('back by more than an hour, and forward again', [
      [0, 0, 0],
      [-HOUR - 1, null, 0, true],
      [MINUTE, null, MINUTE],
    ]),
    sequence('back by 20 days, and corrected by an answer', [
      [0, 0, 0],
      [-20 * DAY, null, 0, true],
      [-20 * DAY + HOUR, HOUR, HOUR],
      [-20 * DAY + 2 * HOUR, null, 2 * HOUR],
    ]),
    sequence('forward by 20 days without an answer, and corrected by hand', [
      [0, 0, 0],
      [20 * DAY, null, 20 * DAY],
      [HOUR, null, HOUR],
    ]),
    sequence('forward by 20 days with an answer, and corrected by hand', [
      [0, 0, 0],
      [20 * DAY + HOUR, HOUR, HOUR],
      [2 * HOUR, null, HOUR, true],
      [3 * HOUR, 3 * HOUR, 3 * HOUR],
    ]),
  ];
}

function sequence(name: string, rows: readonly Row[]): ClockVector {
  return {
    name,
    steps: rows.map(([device, service]) => ({
      device_ms: START + device,
      service_ms: service === null ? null : START + service,
    })),
    expected: rows.map(([, , now, wentBack = false]) => ({
      now_ms: START + now,
      clock_went_back: wentBack,
    })),
  };
}
