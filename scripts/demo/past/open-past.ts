import { loadCatalog } from '#server/config/catalog.ts';
import type { LoadedConfiguration } from '#server/config/load.ts';
import { listSecretIds } from '#server/config/secrets.ts';
import { createContext, loadSigningKeys, type Context } from '#server/context.ts';
import { startEmbeddedPostgres } from '#server/db/embedded/start.ts';
import { migrate } from '#server/db/migrate.ts';
import { createPool } from '#server/db/pool.ts';
import { PasswordHasher } from '#server/features/operators/passwords.ts';
import { createLog } from '#server/log.ts';
import { createMetrics } from '#server/metrics.ts';

import { dateUuidsByAction, DAY_MS, pastClock, runAt } from '../time.ts';
import { HISTORY_DAYS } from '../world/plan.ts';
import { createPastMail } from './past-mail.ts';

/** Enough that no action waits for a connection of another one, which has another time. */
const CONNECTIONS = 28;

/**
 * Opens the database of a demo with the dependencies of all use cases, whose clock shows the time of the action that uses
 * them. The database is not durable until it is closed.
 */
export async function openPast(
  { config, secrets }: LoadedConfiguration,
  nowMs: number,
): Promise<Context & AsyncDisposable> {
  await using resources = new AsyncDisposableStack();
  const log = createLog({ level: 'fatal' });
  const { dataDirectory } = config;
  const postgres = await startEmbeddedPostgres({ dataDirectory, log, durable: false });
  resources.defer(() => postgres.stop());
  const secretIds = listSecretIds(secrets);
  const pool = createPool(postgres.connection, { maxConnections: CONNECTIONS, log, secretIds });
  resources.defer(() => pool.end());
  await migrate(pool);
  resources.defer(dateUuidsByAction());
  const catalog = loadCatalog(config.catalogPath);
  const mail = createPastMail(nowMs);
  const context = createContext({
    config: { ...config, database: { ...config.database, poolSize: CONNECTIONS } },
    secrets,
    catalog: () => catalog,
    clock: pastClock,
    readDatabaseTime: async () => pastClock.now(),
    log,
    metrics: createMetrics({ version: 'demo' }),
    pool,
    mail,
    outreachMail: mail,
  });
  await runAt(nowMs - HISTORY_DAYS * DAY_MS, () => loadSigningKeys(context));
  const kept = resources.move();
  return Object.assign(context, {
    passwords: new RememberedPasswords(),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  });
}

/** Hashes a password once: all operators of the demo have the same one, and each hash takes a tenth of a second. */
class RememberedPasswords extends PasswordHasher {
  readonly #hashes = new Map<string, Promise<string>>();

  override hash(password: string): Promise<string> {
    const known = this.#hashes.get(password) ?? super.hash(password);
    this.#hashes.set(password, known);
    return known;
  }

  override async verify(password: string, phc: string | null): Promise<boolean> {
    return phc !== null && phc === (await this.#hashes.get(password));
  }
}
