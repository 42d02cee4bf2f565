/** Checks of doctor: partitions of events, roll-ups and the removal of old data. */
import type { Pool } from 'pg';

import { formatTimestamp } from '#server/lib/text.ts';

import { mayCreatePartitions, listPartitionDays } from '../analytics/queries/partitions.ts';
import { findRemovalClock } from '../analytics/queries/removal.ts';
import { findLastRun, isDataNewer } from '../analytics/queries/rollup-marks.ts';
import { addDays, dayOf } from '../analytics/rules/days.ts';
import { isFarAhead } from '../analytics/rules/removal-clock.ts';
import { isOverdue } from '../analytics/rules/rollup-marks.ts';

import { type Finding, ok, warning } from './finding.ts';

const PARTITIONS = 'event partitions';

/** Checks that partitions for the events of today and tomorrow exist, and that the service may create more. */
export async function checkEventPartitions(pool: Pool, now: Date): Promise<Finding> {
  if (!(await mayCreatePartitions(pool))) {
    return warning(PARTITIONS, {
      code: 'event_partitions.not_permitted',
      symptom: 'Requests with events fail with 503 within a week.',
      cause:
        'The role of DATABASE_URL may not create tables: it must own the table events and have CREATE on its schema.',
      fix: 'alter table events owner to <role>; grant create on schema <schema> to <role>;',
    });
  }
  const days = await listPartitionDays(pool);
  const last = days.at(-1);
  if (last === undefined) return ok(PARTITIONS, 'None yet; the service creates them.');
  const today = dayOf(now);
  const missing = [today, addDays(today, 1)].filter((day) => !days.includes(day));
  if (missing.length === 0) return ok(PARTITIONS, `Created up to ${last}.`);
  return warning(PARTITIONS, {
    code: 'event_partitions.missing',
    symptom: `Partitions for the events of ${missing.join(' and ')} are missing.`,
    cause: 'The service creates them a week ahead, every hour: it does not run, or it fails to.',
    fix: 'Start the service. If it runs, search its log for the event events.partition_creation_failed.',
    facts: { days: missing },
  });
}

const ROLLUPS = 'roll-ups';

/** Checks that reports contain the latest data. */
export async function checkRollups(pool: Pool, now: Date): Promise<Finding> {
  const last = await findLastRun(pool);
  const until = last?.finishedAt ?? new Date(0);
  const late = last === null || isOverdue(last, now);
  if (late && (await isDataNewer(pool, until))) {
    return warning(ROLLUPS, {
      code: 'rollups.outdated',
      symptom: 'Reports lack the latest data.',
      cause:
        last === null
          ? 'Usage and events have never been rolled up.'
          : `Usage and events were last rolled up at ${formatTimestamp(until)}.`,
      fix: 'The service rolls up every five minutes: search its log for the event rollups.update_failed. latchkey report refresh rolls up now.',
      facts: { finished_at: last?.finishedAt ?? null },
    });
  }
  return ok(
    ROLLUPS,
    last === null ? 'No data to report yet.' : `Updated ${formatTimestamp(until)}.`,
  );
}

const REMOVAL = 'removal of old data';

/** Checks that the clock is not ahead, since old usage and events are removed by it. */
export async function checkRemoval(pool: Pool, now: Date): Promise<Finding> {
  const clock = await findRemovalClock(pool);
  if (clock === null) return ok(REMOVAL, 'Nothing has been removed yet.');
  const reached = formatTimestamp(clock.reachedAt);
  if (!isFarAhead(clock, now)) return ok(REMOVAL, `Ages are counted from ${reached}.`);
  return warning(REMOVAL, {
    code: 'removal.clock_ahead',
    symptom: 'Old usage and events are removed slowly, since the clock may be wrong.',
    cause: `The clock of this machine shows ${formatTimestamp(now)}; ages were last counted from ${reached}.`,
    fix: 'Set the clock by NTP before data is removed too early. If the clock is right, because the service did not run for weeks, do nothing: removal catches up by six hours each hour.',
    facts: { reached_at: clock.reachedAt },
  });
}
