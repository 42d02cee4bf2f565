import assert from 'node:assert/strict';
import { test } from 'node:test';

import { addMonths, endOfPeriod, periodOf } from './days.ts';
import {
  findStalePeriods,
  findStaleTrialWeek,
  findUnsettled,
  firstKeptEventDay,
  firstKeptUsageDay,
  isOverdue,
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

test('weeks start on Mondays and months on their first day, also across years', () => {
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

test('a day is final a day after its end, unless its mark was reset', () => {
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

test('a mark from a clock that was ahead is not final', () => {
  const marks = [markOf('2027-03-01', 1, '2027-03-04T12:00:00Z')];
  const find = (now: string) => findUnsettled(['2027-03-01'], marks, new Date(now));
  assert.deepEqual(find('2027-03-04T11:59:59Z'), ['2027-03-01']);
  assert.deepEqual(find('2027-03-04T12:00:00Z'), []);
});

test('rolls up trials again after a mark from a clock that was ahead', () => {
  const now = new Date('2027-03-03T12:00:00Z');
  const ahead = markOf('2027-03-01', 0, '2027-04-01T00:00:00Z');
  const earlier = markOf('2027-02-22', 0, '2027-02-28T00:00:00Z');
  assert.equal(findStaleTrialWeek([ahead], now, false), '2000-01-03');
  assert.equal(findStaleTrialWeek([earlier, ahead], now, false), '2027-02-01');
  assert.equal(
    findStaleTrialWeek([markOf('2027-03-01', 0, '2027-03-03T11:30:00Z')], now, false),
    null,
  );
});

test('a week is stale when its days or the day before changed', () => {
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

test('the next run is due after the interval or ten times the duration of the last run', () => {
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
  assert.equal(isOverdue(ago(3_600_000, 1), now), false);
  assert.equal(isOverdue(ago(3_600_001, 1), now), true);
  assert.equal(isOverdue(ago(3_600_001, 400_000), now), false);
});

test('keeps 13 months of events, and 25 whole months of use besides the present one', () => {
  assert.equal(firstKeptEventDay('2028-03-31', 396), '2027-03-01');
  assert.equal(firstKeptUsageDay('2029-04-30'), '2027-03-01');
});
