import { type Static, Type } from 'typebox';

import { HealthCheck } from './health.ts';
import { operation } from './operation.ts';
import { dateTime, nullable, nullableString, oneOf, ref } from './schema.ts';

const count = (description: string, example: number) =>
  Type.Integer({ description, examples: [example] });

const bytes = (example: number) => Type.Integer({ examples: [example] });

const Backlog = Type.Object(
  {
    jobs_open: count('Jobs that wait or run, without periodic tasks.', 2),
    jobs_failed: count('Jobs that exhausted their attempts.', 0),
    payment_events_failed: count('Events of payment providers that changed no license.', 0),
    payment_events_deferred: count('Events of payment providers that wait for a retry.', 0),
    key_emails_undelivered: count(
      'E-mails with keys that the relay rejected or did not confirm in the last week.',
      0,
    ),
    deliveries_failed: count(
      'Deliveries of outgoing webhooks that exhausted their retries in the last week.',
      0,
    ),
    endpoints_disabled: count('Endpoints that were disabled after failures.', 0),
    reconciliation_failing: Type.Boolean({
      description: "Whether Paddle's event log or Gumroad's list of sales cannot be read.",
    }),
  },
  { description: 'At most a minute old.' },
);

const Database = Type.Object({
  kind: oneOf(['embedded', 'external']),
  version: Type.String({ examples: ['18.1'] }),
  bytes: bytes(48_000_000),
  connections: count('The connections of all programs to the server.', 18),
  max_connections: count('', 100),
  pool: Type.Object(
    {
      size: count('', 16),
      open: count('', 16),
      idle: count('', 14),
      waiting: count('Calls that wait for a connection.', 0),
    },
    { description: 'The connections of this process.' },
  ),
  tables: Type.Array(
    Type.Object({
      name: Type.String({ examples: ['events'] }),
      rows: count('An estimate of PostgreSQL.', 120_000),
      bytes: bytes(31_000_000),
    }),
    { description: 'The largest ones, with their indexes; the largest first.' },
  ),
});

const ServiceHealth = Type.Object(
  {
    status: oneOf(['healthy', 'degraded', 'unhealthy']),
    version: Type.String({ description: 'The version of the program.', examples: ['1.0.0'] }),
    node_version: Type.String({ examples: ['24.11.1'] }),
    started_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
    uptime_seconds: count('', 86_400),
    memory_bytes: Type.Integer({
      description: 'The resident memory of this process.',
      examples: [131_000_000],
    }),
    checks: Type.Unsafe<Record<string, HealthCheck>>({
      type: 'object',
      additionalProperties: ref(HealthCheck),
      description: 'As of `GET /api/v1/health`.',
      examples: [{ database: { status: 'healthy', latency_ms: 0.8 } }],
    }),
    backlog: Backlog,
    queues: Type.Array(
      Type.Object({
        name: Type.String({ examples: ['database'] }),
        waiting: count('Calls that wait in this process.', 0),
      }),
    ),
    database: Database,
    disk: nullable(
      Type.Unsafe<{ path: string; free_bytes: number; total_bytes: number }>({
        type: 'object',
        description: 'The file system of the data directory; null if it cannot be read.',
        properties: {
          path: Type.String(),
          free_bytes: Type.Integer(),
          total_bytes: Type.Integer(),
        },
        required: ['path', 'free_bytes', 'total_bytes'],
        examples: [{ path: '/var/lib/latchkey', free_bytes: 1e10, total_bytes: 4e10 }],
      }),
    ),
  },
  { $id: 'ServiceHealth' },
);
export type ServiceHealth = Static<typeof ServiceHealth>;

export const showServiceHealth = operation({
  id: 'showServiceHealth',
  method: 'GET',
  path: 'health',
  summary: 'Show the health of the service, its database, queues and backlog',
  permission: 'health:read',
  response: ref(ServiceHealth, 'The health, also while the service is degraded.'),
});

const DoctorFinding = Type.Object({
  check: Type.String({ examples: ['mail'] }),
  status: oneOf(['ok', 'warning', 'failed'], {
    description: '`warning`: the service runs; `failed`: it does not run correctly.',
  }),
  code: nullableString({
    description: 'The stable code of a problem.',
    examples: ['mail.relay_unusable'],
  }),
  symptom: Type.String({ examples: ['No e-mail is sent, since the mail relay cannot be used.'] }),
  cause: nullableString({ examples: ['Error: login. Its reply: 535'] }),
  fix: nullableString({ examples: ['Check LATCHKEY_SMTP_URL.'] }),
});

const DoctorReport = Type.Object(
  {
    checked_at: dateTime({ examples: ['2026-11-22T10:00:00.000Z'] }),
    healthy: Type.Boolean({ description: 'Whether no check failed.' }),
    findings: Type.Array(DoctorFinding),
  },
  { $id: 'DoctorReport', description: 'The findings of `latchkey doctor`.' },
);
export type DoctorReport = Static<typeof DoctorReport>;

/** Every role may run it: it changes nothing. */
export const runDoctor = operation({
  id: 'runDoctor',
  method: 'POST',
  path: 'doctor',
  summary: 'Check the configuration, the machine and the database',
  description:
    'Runs the checks of `latchkey doctor` and changes nothing. Calls within ten seconds share one run.',
  permission: 'doctor:run',
  response: ref(DoctorReport, 'What each check found.'),
});

const EffectiveSetting = Type.Object({
  name: Type.String({ examples: ['LATCHKEY_PORT'] }),
  value: nullableString({
    description: '`(secret)` for a secret that is set; null: not set.',
    examples: ['8080'],
  }),
  origin: oneOf(['set', 'default']),
});

const EffectiveSettings = Type.Object(
  {
    items: Type.Array(EffectiveSetting),
    warnings: Type.Array(Type.String(), {
      description: 'Variables without effect, one sentence each.',
    }),
  },
  { $id: 'EffectiveSettings', description: 'The settings since the start of the service.' },
);

export const listSettings = operation({
  id: 'listSettings',
  method: 'GET',
  path: 'settings',
  summary: 'List the settings in effect, without secrets',
  permission: 'settings:read',
  response: ref(EffectiveSettings, 'The settings.'),
});
