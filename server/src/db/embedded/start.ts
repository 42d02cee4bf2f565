import { resolve } from 'node:path';

import { chooseAccount } from './account.ts';
import type { Account } from './system-accounts.ts';
import { findBinaries, type Binaries } from './binaries.ts';
import { checkCluster, clusterDirectory, inspectCluster } from './cluster.ts';
import { createCluster } from './create-cluster.ts';
import { holdDirectory, openForChild, openForSocket } from './directory-handle.ts';
import { keepRunning } from './keep-running.ts';
import type { EmbeddedPostgresLog } from './log.ts';
import { lockDataDirectory } from './owner-lock.ts';
import { connectionThrough, type EmbeddedConnection } from './readiness.ts';
import { openServerLog } from './server-log.ts';
import { FIXED_SETTINGS, toArguments } from './settings.ts';

/** How to run the embedded database. */
export interface EmbeddedPostgresOptions {
  /** The cluster is its subdirectory `postgres`; made when it is not there. */
  readonly dataDirectory: string;
  readonly log: EmbeddedPostgresLog;
  /** The account for PostgreSQL when root starts the service; default: the cluster's owner, else `latchkey`. */
  readonly account?: string | undefined;
  /** Whether this process gives up root for the returned account; the connection is then of use to this process only. */
  readonly givesUpRoot?: boolean;
  /** False where data may be lost in a power cut, as in tests; that is several times as fast. */
  readonly durable?: boolean;
}

/** A PostgreSQL of our own. */
export interface EmbeddedPostgres {
  /** Stays the same however often the server is started again. */
  readonly connection: EmbeddedConnection;
  /** Runs PostgreSQL in root's place, and can run this process as well; null when this process is not root's. */
  readonly account: Account | null;
  /** Stops the server and releases the data directory. */
  stop(): Promise<void>;
}

/** Nothing waits for the disk. */
const VOLATILE_SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/**
 * Starts PostgreSQL on the data directory and waits until it takes connections; the first time, it creates the cluster.
 * Until it is stopped, it is started again whenever it ends. It never outlives this process, however that ends.
 * @throws StartupError with one clear sentence when it cannot be started
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const dataDirectory = resolve(options.dataDirectory);

  // Whatever was opened is closed again, newest first, both when a later step fails and at the end.
  await using resources = new AsyncDisposableStack();
  const lock = await lockDataDirectory(dataDirectory);
  resources.defer(() => lock.release());

  const { binaries, account, cluster } = await prepareCluster(options, dataDirectory);
  const clusterForChild = openForChild(cluster, account);
  resources.defer(() => clusterForChild.close());
  const successor = options.givesUpRoot === true ? account : null;
  const held = holdDirectory(dataDirectory, successor);
  resources.defer(() => held.close());
  const socketDirectory = openForSocket(clusterDirectory(held.path));
  resources.defer(() => socketDirectory.close());
  const serverLog = openServerLog(dataDirectory, held.path, successor);
  resources.defer(() => serverLog.close());

  const settings = options.durable === false ? VOLATILE_SETTINGS : {};
  const launch = {
    postgres: binaries.postgres,
    args: toArguments({ ...settings, ...FIXED_SETTINGS }),
    account,
    cluster: clusterDirectory(held.path),
    clusterForChild,
    logDescriptor: serverLog.descriptor,
  };
  const connection = connectionThrough(socketDirectory.path);
  const running = await keepRunning({ launch, connection, serverLog, log: options.log });
  resources.defer(() => running.stop());

  const kept = resources.move();
  return { connection, account, stop: () => kept.disposeAsync() };
}

async function prepareCluster(
  options: EmbeddedPostgresOptions,
  dataDirectory: string,
): Promise<{ binaries: Binaries; account: Account | null; cluster: string }> {
  const cluster = clusterDirectory(dataDirectory);
  const found = await inspectCluster(cluster);
  const account = await chooseAccount(options.account, found);
  const binaries = await findBinaries(account, dataDirectory);
  if (found === null) {
    options.log.info({ directory: cluster }, 'making the database, which takes a moment once');
    await createCluster(cluster, binaries, account, options.durable !== false);
  } else {
    await checkCluster(cluster, found, binaries, account);
  }
  return { binaries, account, cluster };
}
