import type { Pool } from 'pg';

import { listEndpoints } from '#server/features/outgoing-webhooks/manage-endpoints.ts';
import { countFailedDeliveries } from '#server/features/outgoing-webhooks/queries/delivery-log.ts';
import type { EndpointRecord } from '#server/features/outgoing-webhooks/queries/endpoints.ts';
import { countJobs } from '#server/jobs/queries.ts';

import { formatMoment } from '../table.ts';
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

const CHECK = 'outgoing webhooks';

const MAX_COUNTED = 1_000;

/** Whether every endpoint gets its events. */
export async function checkEndpoints(pool: Pool): Promise<Finding[]> {
  const endpoints = await listEndpoints({ pool });
  const findings = endpoints.flatMap(examine);
  const failed = await countFailedDeliveries(pool, MAX_COUNTED);
  if (failed > 0) findings.push(explainFailed(failed));
  if (findings.length > 0) return findings;
  const used = endpoints.filter(({ disabledAt }) => disabledAt === null).length;
  return [ok(CHECK, used === 0 ? 'No endpoint is told anything.' : `${used} told of events.`)];
}

function examine(endpoint: EndpointRecord): Finding[] {
  const { id, url, disabledAt, disabledReason, failingSince } = endpoint;
  const name = `${new URL(url).host} (${id})`;
  if (disabledAt !== null) {
    if (disabledReason === 'operator') return [];
    const why = disabledReason === 'gone' ? 'It answered 410 Gone' : 'It only failed for five days';
    return [
      warning(CHECK, {
        symptom: `${name} is told nothing.`,
        cause: `${why}, and was disabled at ${formatMoment(disabledAt)}.`,
        fix: `latchkey endpoint test ${id}, then latchkey endpoint enable ${id}; or latchkey endpoint remove ${id}.`,
      }),
    ];
  }
  if (failingSince === null) return [];
  return [
    warning(CHECK, {
      symptom: `${name} is told late, or not at all.`,
      cause: `Every delivery has failed since ${formatMoment(failingSince)}.`,
      fix: `latchkey endpoint log --failed --endpoint ${id} says why.`,
    }),
  ];
}

function explainFailed(count: number): Finding {
  const shown = count === MAX_COUNTED ? `${MAX_COUNTED} or more` : String(count);
  return warning(CHECK, {
    symptom: 'Endpoints miss events.',
    cause: `Deliveries that failed for good: ${shown}. Each was tried in vain for three days, or answered 410 Gone.`,
    fix: 'latchkey endpoint log --failed says why; latchkey endpoint replay --failed --since <date> tries them again.',
  });
}
