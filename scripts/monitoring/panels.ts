/** The panels of the dashboard, with their queries. */
import {
  badUntil,
  goodUntil,
  graph,
  perSecond,
  pick,
  quantile,
  REQUESTS,
  type Row,
  stat,
} from './panel.ts';

const GIB = 1024 ** 3;
const DAY_SECONDS = 86_400;

const HEALTH: Row = {
  title: 'Health',
  panels: [
    stat('Services', 'none', 'sum(up{job=~"$job",instance=~"$instance"})', {
      description: 'Services that Prometheus can scrape.',
      steps: badUntil(1, 1),
    }),
    stat('Version', 'none', `max by (version) (${pick('latchkey_build_info')})`, {
      queries: [
        { expr: `max by (version) (${pick('latchkey_build_info')})`, legend: '{{version}}' },
      ],
      showsName: true,
    }),
    stat('Running for', 's', `time() - max(${pick('process_start_time_seconds')})`, {
      description: 'Since the last start of a service.',
    }),
    stat('Requests', 'reqps', `sum(${perSecond(`${REQUESTS}_count`)})`),
    stat(
      'Server errors',
      'percentunit',
      `(sum(${perSecond(`${REQUESTS}_count`, 'status=~"5.."')}) or vector(0)) / sum(${perSecond(`${REQUESTS}_count`)})`,
      { description: 'Share of requests that were answered 5xx.', steps: goodUntil(0.005, 0.02) },
    ),
    stat('p99 latency', 's', quantile(0.99, REQUESTS), { steps: goodUntil(0.5, 1) }),
    stat('Backup', 's', `time() - max(${pick('latchkey_backup_last_success_timestamp_seconds')})`, {
      description: 'Age of the last backup of latchkey backup; no data if there was none.',
      steps: goodUntil(26 * 3600, 36 * 3600),
    }),
    stat('Free disk', 'bytes', `min(${pick('latchkey_disk_free_bytes')})`, {
      description: 'Of the embedded database; no data with a database server of your own.',
      steps: badUntil(0.75 * GIB, 2 * GIB),
    }),
    stat(
      'Signing key',
      's',
      `time() - max(${pick('latchkey_signing_key_active_from_timestamp_seconds')})`,
      {
        description: 'Age of the key that signs.',
        steps: goodUntil(365 * DAY_SECONDS, 400 * DAY_SECONDS),
      },
    ),
    stat(
      'Event partitions',
      's',
      `min(${pick('latchkey_event_partitions_until_timestamp_seconds')}) - time()`,
      {
        description: 'Time until the last one ends.',
        steps: badUntil(DAY_SECONDS, 3 * DAY_SECONDS),
      },
    ),
    stat(
      'Failed payments',
      'none',
      `max(${pick('latchkey_payment_events_unapplied', 'status="failed"')})`,
      {
        steps: goodUntil(1, 1),
      },
    ),
    stat('Failed jobs', 'none', `max(${pick('latchkey_jobs', 'state="failed"')})`, {
      steps: goodUntil(1, 10),
    }),
  ],
};

const TRAFFIC: Row = {
  title: 'Requests',
  panels: [
    graph('Requests by route', 'reqps', [
      ['{{method}} {{route}}', `sum by (method, route) (${perSecond(`${REQUESTS}_count`)})`],
    ]),
    graph(
      'Requests by status',
      'reqps',
      [['{{status}}', `sum by (status) (${perSecond(`${REQUESTS}_count`)})`]],
      { stacks: true },
    ),
    graph('Latency', 's', [
      ['p50', quantile(0.5, REQUESTS)],
      ['p95', quantile(0.95, REQUESTS)],
      ['p99', quantile(0.99, REQUESTS)],
    ]),
    graph('p99 latency by route', 's', [['{{route}}', quantile(0.99, REQUESTS, 'route')]]),
    graph('Refusals', 'reqps', [
      [
        '{{operation}}: {{reason}}',
        `sum by (operation, reason) (${perSecond('latchkey_refusals_total')})`,
      ],
    ]),
    graph(
      'Limits of HTTP',
      'reqps',
      [['{{limit}}', `sum by (limit) (${perSecond('latchkey_http_limited_total')})`]],
      { description: 'Requests and connections that a limit refused or closed.' },
    ),
  ],
};

const PROCESS: Row = {
  title: 'Process',
  panels: [
    graph(
      'Event loop delay',
      's',
      [
        ['p50', quantile(0.5, 'latchkey_event_loop_delay_seconds')],
        ['p99', quantile(0.99, 'latchkey_event_loop_delay_seconds')],
      ],
      { description: 'While the event loop is blocked, no request is served.' },
    ),
    graph('Memory', 'bytes', [
      ['{{instance}}', `sum by (instance) (${pick('process_resident_memory_bytes')})`],
    ]),
    graph('CPU', 'percentunit', [
      ['{{instance}}', `sum by (instance) (${perSecond('process_cpu_seconds_total')})`],
    ]),
    graph('State', 'none', [['{{state}}', `sum by (state) (${pick('latchkey_http_load_state')})`]]),
    graph('Memory of requests', 'bytes', [
      ['{{bodies}} bodies', `sum by (bodies) (${pick('latchkey_http_memory_bytes')})`],
      [
        'limit of {{bodies}} bodies',
        `sum by (bodies) (${pick('latchkey_http_memory_limit_bytes')})`,
      ],
    ]),
    graph(
      'Workers',
      'none',
      [
        ['{{state}}', `sum by (state) (${pick('latchkey_workers')})`],
        ['ended', `sum(increase(${pick('latchkey_worker_ends_total')}[$__rate_interval]))`],
      ],
      { description: 'Only with latchkey serve --workers.' },
    ),
  ],
};

const LICENSING: Row = {
  title: 'Licenses',
  panels: [
    graph('Licenses', 'none', [['{{status}}', `max by (status) (${pick('latchkey_licenses')})`]], {
      stacks: true,
    }),
    graph('Validations and activations', 'reqps', [
      [
        '{{route}} {{status}}',
        `sum by (route, status) (${perSecond(`${REQUESTS}_count`, 'route=~"/api/v1/(licenses|trial)/.*"')})`,
      ],
    ]),
    graph('Events', 'cps', [
      ['{{outcome}}', `sum by (outcome) (${perSecond('latchkey_events_total')})`],
    ]),
  ],
};

const SELLING: Row = {
  title: 'Payments, e-mail and webhooks',
  panels: [
    graph(
      'Payment events',
      'none',
      [
        [
          '{{provider}} {{status}}',
          `sum by (provider, status) (increase(${pick('latchkey_payment_events_total')}[1h]))`,
        ],
      ],
      { description: 'Within an hour.' },
    ),
    graph('Payment events that were not applied', 'none', [
      ['{{status}}', `max by (status) (${pick('latchkey_payment_events_unapplied')})`],
    ]),
    graph(
      'E-mails',
      'none',
      [
        [
          '{{mail}} {{outcome}}',
          `sum by (mail, outcome) (increase(${pick('latchkey_mails_total')}[1h]))`,
        ],
      ],
      { description: 'Within an hour.' },
    ),
    graph(
      'Undelivered',
      'none',
      [['{{kind}}', `max by (kind) (${pick('latchkey_undelivered')})`]],
      {
        description:
          'E-mails with keys and webhooks that failed for good in the last week, and endpoints that are disabled.',
      },
    ),
    graph(
      'Free keys of pools',
      'none',
      [['{{product}}', `max by (product) (${pick('latchkey_key_pool_free_keys')})`]],
      { description: 'Of products with keys: pool in the catalogue.' },
    ),
  ],
};

const JOBS: Row = {
  title: 'Jobs',
  panels: [
    graph('Jobs', 'none', [['{{state}}', `max by (state) (${pick('latchkey_jobs')})`]]),
    graph(
      'Attempts of jobs',
      'cps',
      [
        [
          '{{exported_job}} {{outcome}}',
          `sum by (exported_job, outcome) (${perSecond('latchkey_job_attempts_total')})`,
        ],
      ],
      { description: 'Prometheus renames the label job of this metric.' },
    ),
    graph('Payments not in revenue yet', 'none', [
      ['{{kind}}', `max by (kind) (${pick('latchkey_revenue_uncounted')})`],
    ]),
    graph('Failures of background tasks', 'none', [
      ['{{task}}', `sum by (task) (increase(${pick('latchkey_task_failures_total')}[1h]))`],
    ]),
    graph('Last success of background tasks', 's', [
      [
        '{{task}}',
        `time() - max by (task) (${pick('latchkey_task_last_success_timestamp_seconds')})`,
      ],
    ]),
  ],
};

const DATABASE: Row = {
  title: 'Database and disk',
  panels: [
    graph('p95 of batches', 's', [
      ['{{batch}}', quantile(0.95, 'latchkey_batch_duration_seconds', 'batch')],
    ]),
    graph('Calls in a batch', 'none', [
      [
        '{{batch}}',
        `sum by (batch) (${perSecond('latchkey_batch_size_sum')}) / sum by (batch) (${perSecond('latchkey_batch_size_count')})`,
      ],
    ]),
    graph('Connections', 'none', [
      ['{{state}}', `sum by (state) (${pick('latchkey_database_pool_connections')})`],
      ['calls that wait', `sum(${pick('latchkey_database_pool_waiting')})`],
    ]),
    graph('Queues', 'none', [['{{queue}}', `sum by (queue) (${pick('latchkey_queue_depth')})`]]),
    graph('Size', 'bytes', [
      ['database', `max(${pick('latchkey_database_size_bytes')})`],
      ['free disk', `min(${pick('latchkey_disk_free_bytes')})`],
    ]),
    graph('Age of reports', 's', [
      ['roll-ups', `min(${pick('latchkey_rollup_age_seconds')})`],
      ['revenue', `max(${pick('latchkey_revenue_delay_seconds')})`],
    ]),
  ],
};

/** The rows, from top to bottom. */
export const ROWS: readonly Row[] = [HEALTH, TRAFFIC, PROCESS, LICENSING, SELLING, JOBS, DATABASE];
