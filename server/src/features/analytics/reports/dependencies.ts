import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';

/** The dependencies of reports for operators. */
export interface ReportDependencies {
  readonly pool: Pool;
  readonly clock: Clock;
}
