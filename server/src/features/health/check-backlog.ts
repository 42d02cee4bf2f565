import type { HealthCheck } from '@latchkey/contract';

import type { Backlog } from './count-backlog.ts';
import type { HealthDependencies } from './dependencies.ts';

/** Returns a sentence for each problem. */
type ListProblems = (backlog: Backlog) => readonly string[];

const CHECKS: readonly (readonly [name: string, subject: string, listProblems: ListProblems])[] = [
  ['jobs', 'jobs', listJobProblems],
  ['payments', 'payment events', listPaymentProblems],
  ['mail', 'e-mails with keys', listMailProblems],
  ['outgoing_webhooks', 'outgoing webhooks', listWebhookProblems],
];

/** Checks the background work. Never throws, and never returns worse than degraded: licenses are still served. */
export async function checkBacklog({
  readBacklog,
  log,
}: Pick<HealthDependencies, 'readBacklog' | 'log'>): Promise<Record<string, HealthCheck>> {
  try {
    const backlog = await readBacklog();
    return Object.fromEntries(
      CHECKS.map(([name, , listProblems]) => [name, judge(listProblems(backlog))]),
    );
  } catch (error) {
    log.warn({ event: 'health.backlog_check_failed', err: error }, 'could not count the backlog');
    return Object.fromEntries(CHECKS.map(([name, subject]) => [name, unknown(subject)]));
  }
}

function judge(problems: readonly string[]): HealthCheck {
  if (problems.length === 0) return { status: 'healthy' };
  return { status: 'degraded', message: problems.join(' ') };
}

function unknown(subject: string): HealthCheck {
  return { status: 'degraded', message: `The state of the ${subject} is unknown.` };
}

function listJobProblems({ jobs: { failed } }: Backlog): string[] {
  if (failed === 0) return [];
  return [
    failed === 1 ? '1 job exhausted its retries.' : `${failed} jobs exhausted their retries.`,
  ];
}

function listPaymentProblems({ events, isReconciliationFailing }: Backlog): string[] {
  return [
    ...count('Payment events that failed', events.failed),
    ...count('Payment events that wait for a retry', events.deferred),
    ...(isReconciliationFailing
      ? ['Could not read the event log of Paddle or the sales of Gumroad.']
      : []),
  ];
}

function listMailProblems({ undelivered: { keyEmails } }: Backlog): string[] {
  return count(
    'E-mails with keys rejected permanently or not confirmed in the last week',
    keyEmails,
  );
}

function listWebhookProblems({ undelivered }: Backlog): string[] {
  return [
    ...count('Endpoints disabled after failures', undelivered.endpoints),
    ...count('Deliveries that exhausted their retries in the last week', undelivered.deliveries),
  ];
}

function count(what: string, number: number): string[] {
  return number > 0 ? [`${what}: ${number}.`] : [];
}
