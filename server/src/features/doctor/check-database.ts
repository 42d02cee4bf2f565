/** Checks of doctor: the connection, the clock and the schema of the database, and everything in it. */
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import { formatHost } from '#server/config/database-url.ts';
import type { Secrets } from '#server/config/secrets.ts';
import { StartupError } from '#server/config/startup-error.ts';
import { listPendingMigrations } from '#server/db/migrate.ts';
import { sendQuery } from '#server/db/send-query.ts';
import { messageOf } from '#server/lib/unknown-values.ts';
import type { Vault } from '#server/lib/vault.ts';

import { checkAuditLog } from './check-audit-log.ts';
import { checkEventPartitions, checkRemoval, checkRollups } from './check-analytics.ts';
import { checkHosts, checkReplica } from './check-hosts.ts';
import { checkMail, checkSubscribers } from './check-mail.ts';
import { checkPayments } from './check-payments.ts';
import { checkEndpoints, checkJobs } from './check-queues.ts';
import { checkMasterSecret, checkSigningKeys } from './check-secrets.ts';
import { checkSpread } from './check-spread.ts';
import { failure, type Finding, ok, warning } from './finding.ts';

/** Beyond this skew, signed webhooks fail and entitlements start in the future. */
const MAX_SKEW_MS = 2_000;

export interface DatabaseCheckDependencies {
  readonly pool: Pool;
  /** Null: none is configured. */
  readonly replica: Pool | null;
  readonly clock: Clock;
  readonly config: Config;
  readonly vault: Vault;
  readonly secrets: Pick<Secrets, 'smtpUrl' | 'paddleApiKey' | 'databaseUrl'>;
}

/** Runs every check of a database that responds. */
export async function checkDatabase(deps: DatabaseCheckDependencies): Promise<Finding[]> {
  const { pool, replica, config } = deps;
  const { kind, replicaMaxLagSeconds } = config.database;
  const findings = [
    await checkServer(pool, kind === 'external'),
    ...(await checkHosts(pool, deps.secrets.databaseUrl)),
    ...(await checkReplica(pool, replica, replicaMaxLagSeconds)),
    await checkClock(pool),
  ];
  const migrations = await checkMigrations(pool);
  if (migrations.status !== 'ok') return [...findings, migrations];
  return [...findings, migrations, ...(await checkContent(deps))];
}

async function checkContent(deps: DatabaseCheckDependencies): Promise<Finding[]> {
  const { pool, config, secrets, vault } = deps;
  const now = deps.clock.now();
  return [
    await checkSigningKeys(pool, vault),
    ...(await checkMasterSecret(pool, vault)),
    await checkAuditLog(pool),
    await checkJobs(pool),
    ...(await checkPayments(pool, secrets, now, config.billing)),
    ...(await checkMail(pool, config, secrets)),
    ...(await checkSubscribers(pool, config, secrets, now)),
    ...(await checkEndpoints(pool)),
    await checkEventPartitions(pool, now),
    ...(await checkSpreadAndRollups(pool, now)),
    await checkRemoval(pool, now),
  ];
}

/** Roll-ups read every server that has events. */
async function checkSpreadAndRollups(pool: Pool, now: Date): Promise<Finding[]> {
  const spread = await checkSpread(pool);
  if (spread.some(({ status }) => status === 'failed')) return spread;
  return [...spread, await checkRollups(pool, now)];
}

/** Reports a database that cannot be opened. */
export function reportNoDatabase(error: unknown): Finding[] {
  const causes = error instanceof StartupError ? error.problems : [messageOf(error)];
  return causes.map((cause) =>
    failure('database', {
      code: 'database.unavailable',
      symptom: 'The database cannot be opened.',
      cause,
      fix: 'Start the database server and check DATABASE_URL; for the embedded one, see postgres.log in the data directory.',
    }),
  );
}

async function checkServer(pool: Pool, isExternal: boolean): Promise<Finding> {
  const client = await pool.connect();
  try {
    const [row] = (await sendQuery(client, { text: 'show server_version' })).rows;
    const place = isExternal ? ` at ${formatHost(client)}` : '';
    return ok('database', `PostgreSQL ${String(row?.['server_version'])}${place} answers.`);
  } finally {
    client.release();
  }
}

async function checkClock(pool: Pool): Promise<Finding> {
  const check = 'clock';
  const askedAt = Date.now();
  const { rows } = await sendQuery(pool, {
    text: 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms',
  });
  const middle = (askedAt + Date.now()) / 2;
  const skewMs = Math.round(Number(rows[0]?.['now_ms']) - middle);
  if (Math.abs(skewMs) <= MAX_SKEW_MS) return ok(check, 'In step with the clock of the database.');
  return warning(check, {
    code: 'clock.skew',
    facts: { skew_ms: skewMs },
    symptom: 'Webhooks may be rejected, and entitlements may start in the future.',
    cause: `The clock of the database is ${Math.abs(skewMs)} ms ${skewMs > 0 ? 'ahead of' : 'behind'} that of this machine.`,
    fix: 'Synchronize both clocks by NTP.',
  });
}

async function checkMigrations(pool: Pool): Promise<Finding> {
  const check = 'migrations';
  try {
    const pending = await listPendingMigrations(pool);
    if (pending.length === 0) return ok(check, 'The schema is up to date.');
    return failure(check, {
      code: 'migrations.pending',
      facts: { pending },
      symptom: 'Commands fail on this database.',
      cause: `Pending: ${pending.join(', ')}.`,
      fix: 'Run latchkey migrate, or start the service.',
    });
  } catch (error) {
    return failure(check, {
      code: 'migrations.incompatible',
      symptom: 'The service does not start on this database.',
      cause: error instanceof StartupError ? error.problems.join(' ') : messageOf(error),
      fix: 'Run the version of Latchkey that this database belongs to.',
    });
  }
}
