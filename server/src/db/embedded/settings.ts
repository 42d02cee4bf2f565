import { totalmem } from 'node:os';

/** Settings of PostgreSQL by name. */
export type Settings = Readonly<Record<string, string>>;

/**
 * Written into postgresql.conf when the cluster is made; an operator may change them there or with ALTER SYSTEM.
 * What is not named has PostgreSQL's default, fsync and synchronous_commit (both on) among it.
 */
const INITIAL_SETTINGS: Settings = {
  max_connections: '100',
  // Fewer, longer checkpoints: each is followed by full-page writes.
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
 * The settings of a new cluster on a machine with this much memory. An eighth of it buffers pages; the service and
 * whatever else runs there need the rest. A million activations, with all that a validation reads of them, are 900 MB.
 */
export function initialSettings(memoryBytes: number): Settings {
  const eighthMb = Math.floor(memoryBytes / 8 / 1024 / 1024);
  const buffersMb = Math.min(LARGEST_BUFFERS_MB, Math.max(SMALLEST_BUFFERS_MB, eighthMb));
  return { ...INITIAL_SETTINGS, shared_buffers: `${buffersMb}MB` };
}

/** The memory of this machine, or of the container that the process runs in. */
export function readMemoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Given at every start: what the service relies on, whatever postgresql.conf says. */
export const FIXED_SETTINGS: Settings = {
  // Only this machine's own files lead to the server: a Unix socket inside the cluster's directory, which only its owner
  // may enter. Relative to that directory, so that no path is too long for a socket's address.
  listen_addresses: '',
  unix_socket_directories: '.',
  unix_socket_permissions: '0700',
  port: '5432',
  // The log goes to the file that the service opened and keeps short; a row's values stay out of it.
  log_destination: 'stderr',
  logging_collector: 'off',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  // A batch waits for a held row twice, with all its calls and then with only those that want it, and each time perhaps
  // behind another batch. The service's transactions set a limit of their own.
  lock_timeout: '500ms',
  // A process that hangs in the middle of a transaction loses its locks.
  idle_in_transaction_session_timeout: '30s',
  // A statement whose caller has gone away ends soon. On Windows, PostgreSQL refuses to start with this.
  ...(process.platform === 'win32' ? {} : { client_connection_check_interval: '2s' }),
};

/** Settings as the arguments of `postgres` and `initdb`. */
export function toArguments(settings: Settings): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
