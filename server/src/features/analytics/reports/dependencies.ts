import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { ReportReader } from '#server/db/replica/report-reader.ts';

/** The dependencies of reports for operators. */
export interface ReportDependencies {
  readonly pool: Pool;
  readonly reports: ReportReader;
  readonly clock: Clock;
}
