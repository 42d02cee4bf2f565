import { NEED_SEVERITIES, type Need } from '@latchkey/contract';

import type { RisingRefusals } from './rising-refusals.ts';

/** How many rows of a kind need an operator, and the time of the oldest one. */
interface Counted {
  readonly kind: string;
  readonly count: number;
  readonly since: Date | null;
}

/** What the database says about open work. */
export interface OpenWork {
  readonly keyEmails: readonly Counted[];
  readonly payments: readonly Counted[];
  readonly deliveries: readonly Counted[];
  readonly jobs: readonly Counted[];
  readonly pastDue: readonly Counted[];
  readonly unmailed: readonly Counted[];
  readonly endpoints: readonly Endpoint[];
  /** Since when Paddle's event log cannot be read. */
  readonly reconciliationFailedAt: Date | null;
  readonly refusals: RisingRefusals | null;
  readonly isSigning: boolean;
  /** When the roll-ups were last up to date, if that is too long ago; `never` if they never were. */
  readonly rollupsOutdatedSince: Date | 'never' | null;
  readonly isDiskLow: boolean;
}

/** An endpoint of outgoing webhooks. */
interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly failingSince: Date | null;
  readonly disabledAt: Date | null;
  readonly disabledReason: string | null;
}

/** What is said about a kind: the code, the severity, the sentence after the number, and the page. */
interface Kind {
  readonly code: string;
  readonly severity: Need['severity'];
  readonly single: string;
  readonly many: string;
  readonly path: string;
}

type Kinds = Readonly<Record<string, Kind>>;

function kind(
  code: string,
  severity: Need['severity'],
  [single, many]: readonly [string, string],
  path: string,
): Kind {
  return { code, severity, single, many, path };
}

const KEY_EMAILS: Kinds = {
  late: kind(
    'key_emails.late',
    'critical',
    [
      'e-mail with keys has waited for more than 15 minutes. Check whether the jobs of the service run.',
      'e-mails with keys have waited for more than 15 minutes. Check whether the jobs of the service run.',
    ],
    '/mail?state=queued',
  ),
  no_mail: kind(
    'key_emails.no_mail',
    'critical',
    [
      'e-mail with keys waits, because no mail relay is configured.',
      'e-mails with keys wait, because no mail relay is configured.',
    ],
    '/mail?state=held',
  ),
  no_address: kind(
    'key_emails.no_address',
    'warning',
    [
      'e-mail with keys waits, because no address of the buyer is known.',
      'e-mails with keys wait, because no addresses of the buyers are known.',
    ],
    '/mail?state=held',
  ),
  refused: kind(
    'key_emails.refused',
    'warning',
    [
      'e-mail with keys was refused by the mail relay this week. Correct its address, then send it again.',
      'e-mails with keys were refused by the mail relay this week. Correct their addresses, then send them again.',
    ],
    '/mail?state=failed',
  ),
  unconfirmed: kind(
    'key_emails.unconfirmed',
    'warning',
    [
      'e-mail with keys may not have arrived: the mail relay did not confirm it.',
      'e-mails with keys may not have arrived: the mail relay did not confirm them.',
    ],
    '/mail?state=unconfirmed',
  ),
};

const PAYMENTS: Kinds = {
  failed: kind(
    'payment_events.failed',
    'critical',
    [
      'payment event failed, so a license did not change. Replay or dismiss it.',
      'payment events failed, so licenses did not change. Replay or dismiss them.',
    ],
    '/payments?state=failed',
  ),
  deferred: kind(
    'payment_events.deferred',
    'warning',
    [
      'payment event could not be applied yet and is retried for four days.',
      'payment events could not be applied yet and are retried for four days.',
    ],
    '/payments?state=deferred',
  ),
};

const DELIVERIES: Kinds = {
  failed: kind(
    'deliveries.failed',
    'warning',
    [
      'outgoing webhook exhausted its retries this week. Replay it once its endpoint works.',
      'outgoing webhooks exhausted their retries this week. Replay them once their endpoints work.',
    ],
    '/webhooks?tab=deliveries&state=failed',
  ),
};

const JOBS: Kinds = {
  failed: kind(
    'jobs.failed',
    'warning',
    [
      'job exhausted its retries. Remove the cause, then retry it.',
      'jobs exhausted their retries. Remove the cause, then retry them.',
    ],
    '/jobs?state=failed',
  ),
  late: kind(
    'jobs.late',
    'warning',
    [
      'job has been due for more than 10 minutes and does not run.',
      'jobs have been due for more than 10 minutes and do not run.',
    ],
    '/jobs?state=waiting',
  ),
};

const PAST_DUE: Kinds = {
  past_due: kind(
    'licenses.past_due',
    'notice',
    [
      'subscription is past due, and expires when its grace period is over.',
      'subscriptions are past due, and expire when their grace periods are over.',
    ],
    '/licenses?status=past_due&test=false',
  ),
};

const UNMAILED: Kinds = {
  unmailed: kind(
    'subscribers.unmailed',
    'warning',
    [
      'subscriber was not asked for confirmation. Check the mail configuration.',
      'subscribers were not asked for confirmation. Check the mail configuration.',
    ],
    '/subscribers?state=pending',
  ),
};

/** Lists what needs an operator: the most severe first, then the oldest. */
export function listNeeds(work: OpenWork): Need[] {
  return [
    ...describeCounts(work.keyEmails, KEY_EMAILS),
    ...describeCounts(work.payments, PAYMENTS),
    ...describeCounts(work.deliveries, DELIVERIES),
    ...describeCounts(work.jobs, JOBS),
    ...describeCounts(work.unmailed, UNMAILED),
    ...describeCounts(work.pastDue, PAST_DUE),
    ...describeRefusals(work.refusals),
    ...work.endpoints.flatMap(describeEndpoint),
    ...describeService(work),
  ].toSorted(compareNeeds);
}

function describeCounts(counts: readonly Counted[], kinds: Kinds): Need[] {
  return counts.flatMap(({ count, kind: name, since }) => {
    const found = kinds[name];
    if (found === undefined || count === 0) return [];
    const { code, many, path, severity, single } = found;
    const sentence = `${count} ${count === 1 ? single : many}`;
    return [{ code, severity, count, since: since?.toISOString() ?? null, sentence, path }];
  });
}

function describeRefusals(refusals: RisingRefusals | null): Need[] {
  if (refusals === null) return [];
  const { licenses: count, usual } = refusals;
  const sentence = `${count} licenses were refused today, against ${Math.round(usual)} a day in the week before. Look at the reasons.`;
  const path = '/licenses?refused=any';
  return [
    { code: 'licenses.refusals_rising', severity: 'warning', count, since: null, sentence, path },
  ];
}

function describeEndpoint(endpoint: Endpoint): Need[] {
  const { disabledAt, disabledReason, failingSince, id, url } = endpoint;
  const receiver = describeUrl(url);
  const path = `/webhooks/${id}`;
  if (disabledAt === null) {
    if (failingSince === null) return [];
    const sentence = `Every outgoing webhook to ${receiver} fails. Look at its answers.`;
    return [one('endpoint.failing', 'warning', failingSince, sentence, path)];
  }
  if (disabledReason === 'operator') return [];
  const sentence = `${receiver} receives no webhooks: it was disabled after its deliveries failed. Test it, then enable it.`;
  return [one('endpoint.disabled', 'warning', disabledAt, sentence, path)];
}

/** Returns host and path: several endpoints may have one host. */
function describeUrl(url: string): string {
  const { host, pathname } = new URL(url);
  return pathname === '/' ? host : host + pathname;
}

function describeService(work: OpenWork): Need[] {
  const { isDiskLow, isSigning, reconciliationFailedAt, rollupsOutdatedSince } = work;
  return [
    ...(isSigning
      ? []
      : [
          one(
            'signing_key.missing',
            'critical',
            null,
            'No signing key is active, so no entitlement can be issued. Rotate the signing key.',
            '/signing-keys',
          ),
        ]),
    ...(isDiskLow
      ? [
          one(
            'disk.low',
            'critical',
            null,
            'Disk space is low: events and heartbeats are refused. Free some space.',
            '/health',
          ),
        ]
      : []),
    ...(reconciliationFailedAt === null
      ? []
      : [
          one(
            'reconciliation.failed',
            'warning',
            reconciliationFailedAt,
            "Paddle's event log cannot be read, so missing payment events are not found. Check its API key.",
            '/payments',
          ),
        ]),
    ...(rollupsOutdatedSince === null
      ? []
      : [
          one(
            'rollups.outdated',
            'warning',
            rollupsOutdatedSince === 'never' ? null : rollupsOutdatedSince,
            'Reports and figures lack the latest data. Search the log for rollups.update_failed.',
            '/health',
          ),
        ]),
  ];
}

function one(
  code: string,
  severity: Need['severity'],
  since: Date | null,
  sentence: string,
  path: string,
): Need {
  return { code, severity, count: 1, since: since?.toISOString() ?? null, sentence, path };
}

function compareNeeds(a: Need, b: Need): number {
  const bySeverity = NEED_SEVERITIES.indexOf(a.severity) - NEED_SEVERITIES.indexOf(b.severity);
  return bySeverity || (a.since ?? '').localeCompare(b.since ?? '', 'en');
}
