/** Checks of doctor: the connection, the clock and the schema of the database, and everything in it. */
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import { formatHost, parseDatabaseUrl } from '#server/config/database-url.ts';
import type { Secrets } from '#server/config/secrets.ts';
import { RemedyError, StartupError } from '#server/config/startup-error.ts';
import { explainDatabaseFailure } from '#server/db/explain-failure.ts';
import { listPendingMigrations } from '#server/db/migrate.ts';
import { sendQuery } from '#server/db/send-query.ts';
import { messageOf } from '#server/lib/unknown-values.ts';
import type { Vault } from '#server/lib/vault.ts';

import { WebhookClient } from '../outgoing-webhooks/webhook-client.ts';
import { checkAuditLog } from './check-audit-log.ts';
import { checkEventPartitions, checkRemoval, checkRollups } from './check-analytics.ts';
import { describeRoute, judgeEncryption } from './check-encryption.ts';
import { checkHosts, checkReplica } from './check-hosts.ts';
import { checkKeyPools } from './check-key-pools.ts';
import { checkMail, checkSubscribers } from './check-mail.ts';
import { checkPayments } from './check-payments.ts';
import { checkEndpoints, checkJobs } from './check-queues.ts';
import { checkMasterSecret, checkSigningKeys } from './check-secrets.ts';
import { checkSpread } from './check-spread.ts';
import { failure, type Finding, ok, toSentence, warning } from './finding.ts';

/** Beyond this skew, signed webhooks fail and entitlements start in the future. */
const MAX_SKEW_MS = 2_000;

export interface DatabaseCheckDependencies {
  readonly pool: Pool;
  /** Null: none is configured. */
  readonly replica: Pool | null;
  readonly clock: Clock;
  readonly config: Config;
  readonly vault: Vault;
  readonly secrets: Pick<Secrets, 'smtpUrl' | 'paddleApiKey' | 'databaseUrl' | 'replicaUrl'>;
}

/** Runs every check of a database that responds. */
export async function checkDatabase(deps: DatabaseCheckDependencies): Promise<Finding[]> {
  const { pool, replica, config } = deps;
  const { replicaMaxLagSeconds } = config.database;
  const findings = [
    await checkServer(pool, deps.secrets.databaseUrl),
    ...(await checkHosts(pool, deps.secrets.databaseUrl)),
    ...(await checkReplica(
      pool,
      { replica, replicaUrl: deps.secrets.replicaUrl },
      replicaMaxLagSeconds,
    )),
    await checkClock(pool),
  ];
  const migrations = await checkMigrations(pool);
  if (migrations.status !== 'ok') return [...findings, migrations];
  return [...findings, migrations, ...(await checkContent(deps))];
}

async function checkContent(deps: DatabaseCheckDependencies): Promise<Finding[]> {
  const { pool, config, secrets, vault } = deps;
  const webhookClient = new WebhookClient(config.outgoingWebhooks);
  const now = deps.clock.now();
  return [
    await checkSigningKeys(pool, vault),
    ...(await checkMasterSecret(pool, vault)),
    await checkAuditLog(pool),
    await checkJobs(pool),
    ...(await checkPayments(pool, secrets, now, config.billing)),
    ...(await checkKeyPools(pool, config.catalogPath)),
    ...(await checkMail(pool, config, secrets)),
    ...(await checkSubscribers(pool, config, secrets, now)),
    ...(await checkEndpoints(pool, (url) => webhookClient.isRefused(url))),
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

/** Reports a database that cannot be opened, with the fix of its cause. */
export function reportNoDatabase(error: unknown): Finding[] {
  const unavailable = {
    code: 'database.unavailable',
    symptom: 'The database cannot be opened.',
    fix: 'Do what the cause says. postgres.log in the data directory has the messages of the embedded database.',
  };
  if (error instanceof StartupError && !(error instanceof RemedyError)) {
    return error.problems.map((cause) => failure('database', { ...unavailable, cause }));
  }
  const remedy = error instanceof RemedyError ? error.remedy : explainDatabaseFailure(error);
  const [cause, fix] = [toSentence(remedy.problem), toSentence(remedy.fix)];
  return [failure('database', { ...unavailable, cause, fix })];
}

async function checkServer(pool: Pool, databaseUrl: string | null): Promise<Finding> {
  const client = await pool.connect();
  try {
    const [row] = (await sendQuery(client, { text: 'show server_version' })).rows;
    const version = `PostgreSQL ${String(row?.['server_version'])}`;
    const parsed = databaseUrl === null ? null : parseDatabaseUrl(databaseUrl);
    if (parsed === null || 'must' in parsed) return ok('database', `${version} answers.`);
    return judgeEncryption(version, formatHost(client), parsed.value.tls, describeRoute(client));
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
