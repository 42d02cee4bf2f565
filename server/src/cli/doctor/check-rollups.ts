import type { Pool } from 'pg';

import { findLastRun, isDataNewer } from '#server/features/analytics/queries/rollup-marks.ts';
import { isStandingStill } from '#server/features/analytics/rules/rollup-marks.ts';

import { formatMoment } from '../output.ts';
import { type Finding, ok, warning } from './finding.ts';

const CHECK = 'roll-ups';

/** Whether reports are of today. */
export async function checkRollups(pool: Pool, now: Date): Promise<Finding> {
  const last = await findLastRun(pool);
  const until = last?.finishedAt ?? new Date(0);
  const late = last === null || isStandingStill(last, now);
  if (late && (await isDataNewer(pool, until))) {
    return warning(CHECK, {
      symptom: 'Reports lack what came in lately.',
      cause:
        last === null
          ? 'Usage and events have never been rolled up.'
          : `Usage and events were last rolled up at ${formatMoment(until)}.`,
      fix: 'The service does it every five minutes: look for "roll-ups" in its log. latchkey report refresh does it now.',
    });
  }
  return ok(CHECK, last === null ? 'Nothing to report yet.' : `Of ${formatMoment(until)}.`);
}
