import assert from 'node:assert/strict';
import { test } from 'node:test';

import { addMonths, endOfPeriod, periodOf } from './days.ts';
import {
  findStalePeriods,
  findTrialsToLookAt,
  findUnsettled,
  firstKeptEventDay,
  firstKeptUsageDay,
  isStandingStill,
  timeUntilRun,
  type RollupMark,
} from './rollup-marks.ts';

function markOf(
  day: string,
  measure: number | null,
  rolledAt = '2027-03-04T00:00:00Z',
): RollupMark {
  return { day, measure, rolledAt: new Date(rolledAt) };
}

test('weeks begin on Mondays, months on their first day, across the ends of years', () => {
  const days = ['2027-01-03', '2027-01-04', '2026-12-28', '2028-02-29'];
  assert.deepEqual(
    days.map((day) => [periodOf('day', day), periodOf('week', day), periodOf('month', day)]),
    [
      ['2027-01-03', '2026-12-28', '2027-01-01'],
      ['2027-01-04', '2027-01-04', '2027-01-01'],
      ['2026-12-28', '2026-12-28', '2026-12-01'],
      ['2028-02-29', '2028-02-28', '2028-02-01'],
    ],
  );
  assert.deepEqual(
    [
      endOfPeriod('day', '2028-02-29'),
      endOfPeriod('week', '2028-02-28'),
      addMonths('2028-01-31', 1),
    ],
    ['2028-03-01', '2028-03-06', '2028-02-01'],
  );
});

test('a day is looked at until a day after its end, or when its roll-up was taken back', () => {
  const marks = [
    markOf('2027-03-01', 1, '2027-03-03T00:00:00Z'),
    markOf('2027-03-02', 1, '2027-03-03T23:59:59Z'),
    markOf('2027-02-01', null),
  ];
  const days = ['2027-03-04', '2027-03-02', '2027-03-01', '2027-02-01'];
  assert.deepEqual(findUnsettled(days, marks, new Date('2027-03-03T00:00:00Z')), [
    '2027-02-01',
    '2027-03-02',
    '2027-03-04',
  ]);
});

test('a day that was final by a clock that is ahead is not by one that is right', () => {
  const marks = [markOf('2027-03-01', 1, '2027-03-04T12:00:00Z')];
  const find = (now: string) => findUnsettled(['2027-03-01'], marks, new Date(now));
  assert.deepEqual(find('2027-03-04T11:59:59Z'), ['2027-03-01']);
  assert.deepEqual(find('2027-03-04T12:00:00Z'), []);
});

test('trials that were summed up by a clock that is ahead are summed up again', () => {
  const now = new Date('2027-03-03T12:00:00Z');
  const ahead = markOf('2027-03-01', 0, '2027-04-01T00:00:00Z');
  const earlier = markOf('2027-02-22', 0, '2027-02-28T00:00:00Z');
  assert.equal(findTrialsToLookAt([ahead], now, false), '2000-01-03');
  assert.equal(findTrialsToLookAt([earlier, ahead], now, false), '2027-02-01');
  assert.equal(
    findTrialsToLookAt([markOf('2027-03-01', 0, '2027-03-03T11:30:00Z')], now, false),
    null,
  );
});

test('a week is rolled up again when its days, or the one before them, add up to something else', () => {
  const days = [markOf('2027-02-28', 5), markOf('2027-03-01', 2), markOf('2027-03-02', 3)];
  const stale = (weeks: RollupMark[]) => findStalePeriods('week', days, weeks, '2027-01-01');
  assert.deepEqual(stale([markOf('2027-02-22', 5), markOf('2027-03-01', 10)]), []);
  assert.deepEqual(stale([markOf('2027-02-22', 4), markOf('2027-03-01', 9)]), [
    { starts: '2027-02-22', measure: 5 },
    { starts: '2027-03-01', measure: 10 },
  ]);
  const late = (weeks: RollupMark[]) => findStalePeriods('week', days, weeks, '2027-02-23');
  assert.deepEqual(late([markOf('2027-02-22', 4), markOf('2027-03-01', 10)]), []);
  assert.deepEqual(late([markOf('2027-03-01', 10)]), [{ starts: '2027-02-22', measure: 5 }]);
});

test('the next run is due after the interval, or ten times as long as the last one took', () => {
  const now = new Date('2027-03-01T12:00:00Z');
  const ago = (ms: number, tookMs: number) => ({
    finishedAt: new Date(now.getTime() - ms),
    tookMs,
  });
  assert.equal(timeUntilRun(null, now, 300_000), 0);
  assert.equal(timeUntilRun(ago(100_000, 5_000), now, 300_000), 200_000);
  assert.equal(timeUntilRun(ago(400_000, 60_000), now, 300_000), 200_000);
  assert.equal(timeUntilRun(ago(-3_000, 5_000), now, 300_000), 303_000);
  assert.equal(timeUntilRun(ago(-300_001, 5_000), now, 300_000), 0);
  assert.equal(isStandingStill(ago(3_600_000, 1), now), false);
  assert.equal(isStandingStill(ago(3_600_001, 1), now), true);
  assert.equal(isStandingStill(ago(3_600_001, 400_000), now), false);
});

test('thirteen months of events are kept, and of use 25 whole months besides the present one', () => {
  assert.equal(firstKeptEventDay('2028-03-31', 396), '2027-03-01');
  assert.equal(firstKeptUsageDay('2029-04-30'), '2027-03-01');
});
