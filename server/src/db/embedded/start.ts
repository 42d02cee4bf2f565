import type { Stats } from 'node:fs';
import { resolve } from 'node:path';

import { clusterDirectory } from '#server/config/data-directory.ts';

import { chooseAccount, type Account } from './account.ts';
import { findBinaries, type Binaries } from './binaries.ts';
import { checkCluster, createCluster, inspectCluster } from './cluster.ts';
import { connectionTo, SERVICE_PORT, type EmbeddedConnection } from './connection.ts';
import { requireNoInterruptedUpgrade } from './interrupted-upgrade.ts';
import { keepRunning } from './keep-running.ts';
import { openDirectory, workingDirectoryPath } from './open-directory.ts';
import { lockDataDirectory } from './owner-lock.ts';
import { openServerLog, type EmbeddedPostgresLog } from './server-log.ts';
import { allowConnections, FIXED_SETTINGS, toArguments, type Settings } from './settings.ts';

/** How to run the embedded database. */
export interface EmbeddedPostgresOptions {
  /** The cluster is its subdirectory `postgres`, created if missing. */
  readonly dataDirectory: string;
  readonly log: EmbeddedPostgresLog;
  /** The account for PostgreSQL when root starts the service; default: the cluster's owner, else `latchkey`. */
  readonly account?: string | Account | undefined;
  /** Whether this process drops root for the returned account; only this process can use the connection then. */
  readonly dropsPrivileges?: boolean;
  /** Connections that the service may open; more than the configured ones are allowed then. Default: the configured ones. */
  readonly clientConnections?: number;
  /** False if data may be lost in a power failure, as in tests; that is several times as fast. */
  readonly durable?: boolean;
  /** The programs. Default: those of this version. */
  readonly binaries?: Binaries;
  /** The number in the name of the socket. Default: the one on which commands look for a running service. */
  readonly port?: number;
  /** Settings of this run, such as those of an upgrade. */
  readonly settings?: Settings;
}

/** The embedded PostgreSQL, running. */
export interface EmbeddedPostgres {
  /** Remains valid when the server restarts. */
  readonly connection: EmbeddedConnection;
  /** The descriptor of the data directory that the connection's path leads through; null: it is a plain path. */
  readonly directoryDescriptor: number | null;
  /** The account that runs PostgreSQL, and can run this process too; null if this process does not run as root. */
  readonly account: Account | null;
  /** Stops the server and releases the data directory. */
  stop(): Promise<void>;
}

const VOLATILE_SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/**
 * Starts PostgreSQL on the data directory, creates the cluster if there is none, and waits until it accepts connections.
 * The server is restarted whenever it ends, and ends with this process, however that ends.
 * @throws StartupError when it cannot be started
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  await using resources = new AsyncDisposableStack();
  const lock = await lockDataDirectory(resolve(options.dataDirectory));
  resources.defer(() => lock.release());
  const started = await startInLockedDirectory(options);
  resources.defer(() => started.stop());
  const kept = resources.move();
  return { ...started, stop: () => kept.disposeAsync() };
}

/**
 * Does the same for a caller that has locked the data directory and releases it.
 * @throws StartupError when it cannot be started
 */
export async function startInLockedDirectory(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const dataDirectory = resolve(options.dataDirectory);
  const port = options.port ?? SERVICE_PORT;

  // Closed in reverse order, when a later step fails and in stop().
  await using resources = new AsyncDisposableStack();
  const { binaries, account } = await prepareCluster(options, dataDirectory);
  const successor = options.dropsPrivileges === true ? account : null;
  const opened = openDirectory(dataDirectory, successor);
  resources.defer(() => opened.close());
  const serverLog = openServerLog(dataDirectory, opened.path, successor);
  resources.defer(() => serverLog.close());

  const settings = {
    ...(options.durable === false ? VOLATILE_SETTINGS : {}),
    ...allowConnections(options.clientConnections ?? 0),
  };
  const launch = {
    postgres: binaries.postgres,
    args: toArguments({
      ...settings,
      ...FIXED_SETTINGS,
      ...options.settings,
      port: String(port),
    }),
    account,
    cluster: clusterDirectory(opened.path),
    dataPath: workingDirectoryPath(clusterDirectory(dataDirectory), account),
    logDescriptor: serverLog.descriptor,
  };
  const connection = connectionTo(opened.path, port);
  const running = await keepRunning({ launch, connection, serverLog, log: options.log });
  resources.defer(() => running.stop());

  const kept = resources.move();
  const directoryDescriptor = opened.descriptor;
  return { connection, directoryDescriptor, account, stop: () => kept.disposeAsync() };
}

async function prepareCluster(
  options: EmbeddedPostgresOptions,
  dataDirectory: string,
): Promise<{ binaries: Binaries; account: Account | null }> {
  const directory = clusterDirectory(dataDirectory);
  const found = await inspectCluster(directory);
  const account = await findAccountFor(options, found);
  const binaries = options.binaries ?? (await findBinaries(account, dataDirectory));
  if (found === null) {
    await requireNoInterruptedUpgrade(dataDirectory);
    const fields = { event: 'postgres.cluster_creation_started', directory };
    options.log.info(fields, 'creating the database, which takes some seconds');
    await createCluster(directory, binaries, account, options.durable !== false);
  } else {
    await checkCluster(directory, found, binaries, account);
  }
  return { binaries, account };
}

async function findAccountFor(
  { account }: EmbeddedPostgresOptions,
  found: Stats | null,
): Promise<Account | null> {
  return typeof account === 'object' ? account : chooseAccount(account, found);
}
