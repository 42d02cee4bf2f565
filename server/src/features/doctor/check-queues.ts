/** Checks of doctor: background jobs and outgoing webhooks. */
import type { Pool } from 'pg';

import { listEndpoints } from '../outgoing-webhooks/manage-endpoints.ts';
import { countFailedDeliveries } from '../outgoing-webhooks/queries/delivery-log.ts';
import type { EndpointRecord } from '../outgoing-webhooks/queries/endpoints.ts';
import { ALLOWED_NETWORKS_SETTING } from '../outgoing-webhooks/rules/target-address.ts';
import type { WebhookClient } from '../outgoing-webhooks/webhook-client.ts';
import { countJobs } from '#server/jobs/queries.ts';
import { formatTimestamp } from '#server/lib/text.ts';

import { type Finding, ok, warning, warningIf } from './finding.ts';

/** Checks for jobs that exhausted their retries. */
export async function checkJobs(pool: Pool): Promise<Finding> {
  const check = 'jobs';
  const { open, failed } = await countJobs(pool);
  if (failed === 0) return ok(check, `${open} waiting or running, none failed.`);
  return warning(check, {
    code: 'jobs.failed',
    symptom: `Failed jobs: ${failed}. Their work was not done.`,
    cause: 'Each job exhausted its retries; latchkey jobs list shows the last error.',
    fix: 'Remove the cause, then run latchkey jobs retry --all.',
    facts: { jobs: failed },
  });
}

const WEBHOOKS = 'outgoing webhooks';

const MAX_COUNTED = 1_000;

/**
 * Checks that every endpoint receives its events.
 * @param isRefused whether the client refuses the address of a URL
 */
export async function checkEndpoints(
  pool: Pool,
  isRefused: WebhookClient['isRefused'],
): Promise<Finding[]> {
  const endpoints = await listEndpoints({ pool });
  const failed = await countFailedDeliveries(pool, MAX_COUNTED);
  const problems = [
    ...endpoints.flatMap(checkEndpoint),
    ...(await reportRefused(endpoints, isRefused)),
    ...reportFailedDeliveries(failed),
  ];
  if (problems.length > 0) return problems;
  const active = endpoints.filter(({ disabledAt }) => disabledAt === null).length;
  return [ok(WEBHOOKS, `Active endpoints: ${active}.`)];
}

function checkEndpoint(endpoint: EndpointRecord): Finding[] {
  const { id, url, disabledAt, disabledReason, failingSince } = endpoint;
  const name = `${new URL(url).host} (${id})`;
  if (disabledAt === null) {
    const since = failingSince === null ? '' : formatTimestamp(failingSince);
    return warningIf(failingSince !== null, WEBHOOKS, {
      code: 'endpoint.failing',
      symptom: `${name} receives events late or not at all.`,
      cause: `Every delivery has failed since ${since}.`,
      fix: `latchkey endpoint log --failed --endpoint ${id} shows the errors.`,
      facts: { endpoint_id: id, failing_since: failingSince },
    });
  }
  const why =
    disabledReason === 'gone' ? 'It responded 410 Gone' : 'Its deliveries failed for five days';
  return warningIf(disabledReason !== 'operator', WEBHOOKS, {
    code: 'endpoint.disabled',
    symptom: `${name} receives no events.`,
    cause: `${why}, and it was disabled at ${formatTimestamp(disabledAt)}.`,
    fix: `latchkey endpoint test ${id}, then latchkey endpoint enable ${id}; or latchkey endpoint remove ${id}.`,
    facts: { endpoint_id: id, reason: disabledReason, disabled_at: disabledAt },
  });
}

/** Names the enabled endpoints to which deliveries are refused: those of an earlier release, or by a changed name. */
async function reportRefused(
  endpoints: readonly EndpointRecord[],
  isRefused: WebhookClient['isRefused'],
): Promise<Finding[]> {
  const findings = endpoints
    .filter(({ disabledAt }) => disabledAt === null)
    .map(async ({ id, url }) => {
      const { host } = new URL(url);
      return warningIf(await isRefused(new URL(url)), WEBHOOKS, {
        code: 'endpoint.address_refused',
        symptom: `${host} (${id}) receives no events.`,
        cause: `Its address is not public, and ${ALLOWED_NETWORKS_SETTING} does not allow it.`,
        fix: `Name its network in ${ALLOWED_NETWORKS_SETTING} and restart the service, or run latchkey endpoint remove ${id}.`,
        facts: { endpoint_id: id },
      });
    });
  return (await Promise.all(findings)).flat();
}

function reportFailedDeliveries(count: number): Finding[] {
  const shown = count === MAX_COUNTED ? `${MAX_COUNTED} or more` : String(count);
  return warningIf(count > 0, WEBHOOKS, {
    code: 'deliveries.failed',
    symptom: 'Endpoints miss events.',
    cause: `Failed deliveries: ${shown}. Each was retried for three days, or its endpoint responded 410 Gone.`,
    fix: 'latchkey endpoint log --failed shows the errors; latchkey endpoint replay --failed --since <date> delivers again.',
    facts: { deliveries: count },
  });
}
