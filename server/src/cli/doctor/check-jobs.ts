import type { Pool } from 'pg';

import { countJobs } from '#server/jobs/queries.ts';

import { type Finding, ok, warning } from './finding.ts';

/** Whether work of the service's own was given up; the database has been migrated. */
export async function checkJobs(pool: Pool): Promise<Finding> {
  const check = 'jobs';
  const { open, givenUp } = await countJobs(pool);
  if (givenUp === 0) return ok(check, `${open} to be done, none given up.`);
  return warning(check, {
    symptom: `Jobs were given up: ${givenUp}. What they should have done was not done.`,
    cause: 'Each was tried as often as it may be, in vain; latchkey jobs list says why.',
    fix: 'Remove the cause, then latchkey jobs retry --all.',
  });
}
