import type { BackgroundJob, jobs } from '@latchkey/contract';
import type { Pool } from 'pg';

import { condition, type Condition } from '#server/db/list.ts';
import { jobList, type JobRecord } from '#server/jobs/list-jobs.ts';

import { selectFrom, type ListSource } from '../lists/list-source.ts';

/** Where the list of jobs comes from, without the rows of periodic tasks. */
export function jobSource(deps: { readonly pool: Pool }): ListSource<typeof jobs, JobRecord> {
  const filters = { state: isInState, name: isNamed, search: contains };
  return { read: selectFrom(deps, jobList, filters), view: viewJob };
}

function isInState(state: string): Condition {
  return condition('j.state = ?', state);
}

function isNamed(name: string): Condition {
  return condition('j.name = ?', name);
}

function contains(part: string): Condition {
  return condition(
    `position(lower(?) in lower(concat_ws(' ', j.name, j.key, j.payload::text, j.last_error))) > 0`,
    part,
  );
}

function viewJob(job: JobRecord): BackgroundJob {
  const { state } = job;
  return {
    id: String(job.id),
    name: job.name,
    key: job.key,
    payload: job.payload,
    state,
    attempts: job.attempts,
    max_attempts: job.maxAttempts,
    created_at: job.createdAt.toISOString(),
    next_at: state === 'waiting' || state === 'retrying' ? job.runAt.toISOString() : null,
    failed_at: job.failedAt?.toISOString() ?? null,
    last_error: job.lastError,
  };
}
