import type { Client, ClientConfig } from 'pg';
import type { Logger } from 'pino';

import { formatHost, type DatabaseHost } from '#server/config/database-url.ts';
import { withDeadline } from '#server/lib/deadline.ts';

import { NoHostError } from '../database-errors.ts';
import type { ClientClass } from '../tls/libpq-client.ts';
import { readStatus, setHost } from './examine-host.ts';
import type { HostFinder } from './host-finder.ts';
import { isExclusive, type HostStatus } from './host-state.ts';

type Log = Pick<Logger, 'warn'>;

/** The message of the pool's own error. */
const CONNECT_TIMEOUT = 'timeout exceeded when trying to connect';

/** The connections of a pool, by the hosts that they lead to. */
class OpenConnections {
  readonly #finder: HostFinder;
  readonly #log: Log;
  readonly #hosts = new Map<Client, DatabaseHost>();

  constructor(finder: HostFinder, log: Log) {
    this.#finder = finder;
    this.#log = log;
  }

  /** Adds a connection. One to another host than before ends those to that host, if only one host can be right. */
  add(client: Client, host: DatabaseHost, status: HostStatus): void {
    this.#hosts.set(client, host);
    client.once('end', () => this.#hosts.delete(client));
    const previous = this.#finder.prefer(host, status);
    if (previous === null || previous === host) return;
    this.#log.warn(
      { event: 'database.host_changed', host: formatHost(host), previous: formatHost(previous) },
      'connected to another database host',
    );
    if (isExclusive(this.#finder.kind)) this.#endOthers(host);
  }

  /** Their queries reject, and the pool discards them. A frozen host would not end them itself. */
  #endOthers(host: DatabaseHost): void {
    for (const [client, other] of this.#hosts) {
      if (other !== host) client.connection.stream.destroy();
    }
  }
}

/** The class of a connection to one host, and the configuration of one that is not created by the pool. */
interface Base {
  readonly own: ClientConfig;
  readonly LibpqClient: ClientClass;
}

/** Creates the class of a pool's connections, each of which finds its host when it connects. */
export function createFailoverClient(finder: HostFinder, log: Log, { own, LibpqClient }: Base) {
  const open = new OpenConnections(finder, log);
  return class FailoverClient extends LibpqClient {
    readonly #timeoutMs: number;

    constructor(config: ClientConfig = own) {
      super(config);
      this.#timeoutMs = config.connectionTimeoutMillis ?? 0;
      // Without a listener, a connection that breaks before the pool listens would end the process.
      this.on('error', () => {});
    }

    override connect(): Promise<Client>;
    override connect(callback: ConnectCallback): void;
    override connect(callback?: ConnectCallback): Promise<Client> | void {
      const connected = this.#connect();
      if (callback === undefined) return connected;
      void reportTo(callback, connected);
    }

    async #connect(): Promise<Client> {
      const host = await withDeadline(this.#timeoutMs, CONNECT_TIMEOUT, finder.find());
      setHost(this, host);
      await super.connect();
      try {
        await this.#addTo(host);
        return this;
      } catch (error) {
        // Not awaited: the host may not respond any more.
        this.end().catch(() => {});
        throw error;
      }
    }

    /** The host may have changed since it was found, and a proxy may lead to another server each time. */
    async #addTo(host: DatabaseHost): Promise<void> {
      const status = await readStatus(this, finder.kind);
      const problem = finder.kind === 'prefer-standby' ? null : finder.findProblem(status);
      if (problem !== null) throw new NoHostError([`${formatHost(host)} ${problem}`]);
      open.add(this, host, status);
    }
  };
}

type ConnectCallback = (...outcome: readonly [Error] | readonly [null, Client]) => void;

/** Calls the pool back once. */
async function reportTo(callback: ConnectCallback, connected: Promise<Client>): Promise<void> {
  const outcome = await connected.then(
    (client) => [null, client] as const,
    (error: unknown) => [error instanceof Error ? error : new Error(String(error))] as const,
  );
  callback(...outcome);
}
