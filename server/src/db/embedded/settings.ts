import { totalmem } from 'node:os';

/** Settings of PostgreSQL by name. */
export type Settings = Readonly<Record<string, string>>;

/**
 * Written to postgresql.conf when the cluster is created; an operator may change them there or with ALTER SYSTEM. Others
 * have PostgreSQL's defaults, such as fsync and synchronous_commit (both on).
 */
const INITIAL_SETTINGS: Settings = {
  max_connections: '100',
  // Fewer checkpoints: each is followed by full-page writes.
  max_wal_size: '2GB',
  min_wal_size: '256MB',
  checkpoint_timeout: '15min',
  // Solid state storage.
  random_page_cost: '1.1',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Compiling a plan costs more than any of our statements.
  jit: 'off',
};

const SMALLEST_BUFFERS_MB = 128;
const LARGEST_BUFFERS_MB = 1024;

/**
 * Returns the settings of a new cluster. An eighth of the memory buffers pages; the service and other programs need the
 * rest. The rows that validations of a million activations read take 900 MB.
 */
export function initialSettings(memoryBytes: number): Settings {
  const eighthMb = Math.floor(memoryBytes / 8 / 1024 / 1024);
  const buffersMb = Math.min(LARGEST_BUFFERS_MB, Math.max(SMALLEST_BUFFERS_MB, eighthMb));
  return { ...INITIAL_SETTINGS, shared_buffers: `${buffersMb}MB` };
}

/** Returns the memory of this machine, or of the container. */
export function readMemoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Set at every start, and override postgresql.conf: the service relies on them. */
export const FIXED_SETTINGS: Settings = {
  // No TCP: only a Unix socket in the cluster's directory, which only its owner may enter. The path is relative to that
  // directory, so that it is never too long for a socket's address.
  listen_addresses: '',
  unix_socket_directories: '.',
  unix_socket_permissions: '0700',
  // The log goes to the file that the service opens and rotates, without values of rows.
  log_destination: 'stderr',
  logging_collector: 'off',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  // A batch may wait for a locked row twice: with all its calls, then with only those that need the row, each time behind
  // another batch. The service's transactions set their own limit.
  lock_timeout: '500ms',
  // Releases the locks of a process that hangs in a transaction.
  idle_in_transaction_session_timeout: '30s',
  // Cancels a statement whose client has disconnected. On Windows, PostgreSQL refuses to start with this.
  ...(process.platform === 'win32' ? {} : { client_connection_check_interval: '2s' }),
};

/** Connections of commands, and of PostgreSQL for its superuser. */
const OTHER_CONNECTIONS = 20;

/** Returns the setting for more connections of the service than a new cluster allows; none if those suffice. */
export function allowConnections(clientConnections: number): Settings {
  const needed = clientConnections + OTHER_CONNECTIONS;
  return needed > Number(INITIAL_SETTINGS['max_connections'])
    ? { max_connections: `${needed}` }
    : {};
}

/** Formats settings as arguments of `postgres` and `initdb`. */
export function toArguments(settings: Settings): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
