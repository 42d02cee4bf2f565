import { Counter, Gauge, type Registry } from 'prom-client';

import type { Metrics } from './metrics.ts';

/** What is counted seldom enough for the library's own counters. */
export function createCounters(
  registry: Registry,
): Pick<
  Metrics,
  'countHttpLimited' | 'countRefusal' | 'countWebhook' | 'countMail' | 'countJob' | 'countEvents'
> {
  const registers = [registry];
  const refusals = new Counter({
    name: 'latchkey_refusals_total',
    help: 'Requests that were understood and refused.',
    labelNames: ['operation', 'reason'],
    registers,
  });
  const limited = new Counter({
    name: 'latchkey_http_limited_total',
    help: 'Requests and connections that a limit of the HTTP layer refused or closed.',
    labelNames: ['limit'],
    registers,
  });
  const mails = new Counter({
    name: 'latchkey_mails_total',
    help: 'E-mails handed to the relay, by outcome.',
    labelNames: ['mail', 'outcome'],
    registers,
  });
  const jobs = new Counter({
    name: 'latchkey_job_attempts_total',
    help: 'Tries of jobs by how they went; given_up is a last try in vain.',
    labelNames: ['job', 'outcome'],
    registers,
  });
  const webhooks = new Counter({
    name: 'latchkey_webhook_events_total',
    help: 'Verified events of payment providers.',
    labelNames: ['provider', 'status'],
    registers,
  });
  const events = new Counter({
    name: 'latchkey_events_total',
    help: 'Analytics events by what became of them: accepted, or why they were dropped.',
    labelNames: ['outcome'],
    registers,
  });
  return {
    countHttpLimited: (limit) => limited.inc({ limit }),
    countRefusal: (operation, reason) => refusals.inc({ operation, reason }),
    countMail: (mail, outcome) => mails.inc({ mail, outcome }),
    countJob: (job, outcome) => jobs.inc({ job, outcome }),
    countWebhook: (provider, status) => webhooks.inc({ provider, status }),
    countEvents: (outcome, count) => events.inc({ outcome }, count),
  };
}

/** The last success and the failures of each background task. */
export function createTaskCounter(registry: Registry): Metrics['countTask'] {
  const registers = [registry];
  const failures = new Counter({
    name: 'latchkey_task_failures_total',
    help: 'Failed runs of background tasks.',
    labelNames: ['task'],
    registers,
  });
  const lastSuccesses = new Gauge({
    name: 'latchkey_task_last_success_timestamp_seconds',
    help: 'Time of the last successful run of a background task in this process.',
    labelNames: ['task'],
    registers,
  });
  return (task, outcome) => {
    if (outcome === 'failed') failures.inc({ task });
    else lastSuccesses.setToCurrentTime({ task });
  };
}
