import type { Command } from 'commander';

import { systemClock } from '#server/clock.ts';
import { loadCatalog } from '#server/config/catalog.ts';
import type { Config } from '#server/config/config.ts';
import { loadConfiguration } from '#server/config/load.ts';
import { listSecretIds, type Secrets } from '#server/config/secrets.ts';
import { findEmbeddedPostgres } from '#server/db/embedded/connection.ts';
import { listPendingMigrations, migrate } from '#server/db/migrate.ts';
import { openDatabase, type OpenDatabase } from '#server/db/open-database.ts';
import { createPool } from '#server/db/pool.ts';
import { openGumroadApi } from '#server/features/billing/providers/gumroad/gumroad-api.ts';
import { openPaddleApi } from '#server/features/billing/providers/paddle/paddle-api.ts';
import { openStripeApi } from '#server/features/billing/providers/stripe/stripe-api.ts';
import { version } from '#server/lib/version.ts';
import { type Logger, createLog } from '#server/log.ts';
import { formatForTerminal } from '#server/log-terminal.ts';
import { createContext, loadSigningKeys, type Context } from '#server/context.ts';
import { createMetrics } from '#server/metrics.ts';
import {
  command,
  type CommandInterface,
  type CommandValues,
  type MaybeResult,
  type Parameters,
} from './command.ts';
import { commandProcess } from './command-process.ts';
import { failed } from './command-error.ts';
import { printNote } from './output.ts';

/** Few, since the service shares the connection limit of the database. */
const POOL_SIZE = 5;

/** The dependencies of commands that need only the database. */
interface CommandDatabase extends OpenDatabase {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly log: Logger;
}

/**
 * Runs work with the dependencies of all use cases, on the database as {@link withDatabase} opens it.
 * @throws StartupError for an invalid configuration, CommandError for a database that is not migrated
 */
export async function withContext<T>(work: (context: Context) => Promise<T>): Promise<T> {
  return withDatabase(async ({ config, secrets, log, pool, replica }) => {
    const catalog = loadCatalog(config.catalogPath);
    // Only this program uses the embedded database, so it migrates it.
    if (config.database.kind === 'embedded') await migrate(pool);
    else await requireMigrated(pool);
    const context = createContext({
      config,
      secrets,
      catalog: () => catalog,
      clock: systemClock,
      log,
      metrics: createMetrics({ version }),
      pool,
      replica,
      paddleApi: openPaddleApi(config, secrets, systemClock),
      gumroadApi: openGumroadApi(config, secrets, systemClock),
      stripeApi: openStripeApi(config, secrets, systemClock),
    });
    await loadSigningKeys(context);
    return work(context);
  });
}

/** Declares a command that runs with the dependencies of all use cases. */
export function contextCommand<const Declared extends Parameters = []>({
  run,
  ...help
}: CommandInterface<Declared> & {
  readonly run: (context: Context, values: CommandValues<Declared>) => Promise<MaybeResult>;
}): () => Command {
  return command({ ...help, run: (values) => withContext((context) => run(context, values)) });
}

/** Runs work on the database. An embedded database that is not running is started for the duration of the work. */
export async function withDatabase<T>(work: (opened: CommandDatabase) => Promise<T>): Promise<T> {
  const { config, secrets, warnings } = loadConfiguration();
  for (const warning of warnings) printNote(`warning: ${warning}`);
  const log = createCommandLog();
  const small = { ...config, database: { ...config.database, poolSize: POOL_SIZE } };
  const database = await openRunningOrOwn(small, secrets, log);
  try {
    return await work({ config: small, secrets, log, ...database });
  } finally {
    await database.close();
  }
}

async function openRunningOrOwn(
  config: Config,
  secrets: Secrets,
  log: Logger,
): Promise<OpenDatabase> {
  const running =
    config.database.kind === 'embedded' ? await findEmbeddedPostgres(config.dataDirectory) : null;
  if (running === null) return openDatabase(config, secrets, log);
  const secretIds = listSecretIds(secrets);
  const pool = createPool(running, { maxConnections: config.database.poolSize, log, secretIds });
  return { pool, replica: null, account: null, directory: null, close: () => pool.end() };
}

async function requireMigrated(pool: OpenDatabase['pool']): Promise<void> {
  const pending = await listPendingMigrations(pool);
  if (pending.length === 0) return;
  throw failed('The database has pending migrations: run latchkey migrate first.');
}

/** Creates the log of a command: warnings on standard error. */
export function createCommandLog(): Logger {
  return createLog({ level: 'warn', destination: { write: logToStandardError } });
}

function logToStandardError(line: string): void {
  commandProcess().stderr.write(formatForTerminal(line, false));
}
