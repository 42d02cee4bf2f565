import type { Pool } from 'pg';

import { findRemovalClock } from '#server/features/analytics/queries/removal.ts';
import { isFarAhead } from '#server/features/analytics/rules/removal-clock.ts';

import { formatMoment } from '../output.ts';
import { type Finding, ok, warning } from './finding.ts';

const CHECK = 'removal of old data';

/** Whether old usage and events are removed by a clock that can be believed. */
export async function checkRemoval(pool: Pool, now: Date): Promise<Finding> {
  const clock = await findRemovalClock(pool);
  if (clock === null) return ok(CHECK, 'Nothing was removed yet.');
  const reached = formatMoment(clock.reachedAt);
  if (!isFarAhead(clock, now)) return ok(CHECK, `What is old is counted from ${reached}.`);
  return warning(CHECK, {
    symptom: 'Old usage and events are removed slowly, for this clock may be wrong.',
    cause: `This machine's clock says ${formatMoment(now)}, and removal had come to ${reached}.`,
    fix: 'Set the clock right by NTP, before anything is removed too early. When it is right, because the service did not run for weeks, do nothing: removal catches up, six hours each hour.',
  });
}
