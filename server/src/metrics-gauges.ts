import { Gauge, type Registry } from 'prom-client';

/** The connections of a pool, and the callers that wait for one. */
interface PoolCounts {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

/** The load of the HTTP layer. */
export interface HttpLoad {
  readonly state: 'normal' | 'overloaded' | 'refusing';
  /** Reserved for requests with bodies of the usual length and with larger ones. */
  readonly memory: Readonly<
    Record<'usual' | 'large', { readonly usedBytes: number; readonly maxBytes: number }>
  >;
}

/** The backlog, read from the database once a minute. */
export interface BacklogNumbers {
  readonly jobs: { readonly open: number; readonly failed: number };
  readonly events: { readonly deferred: number; readonly failed: number };
  readonly undelivered: {
    readonly keyEmails: number;
    readonly deliveries: number;
    readonly endpoints: number;
  };
  /** By product whose licenses take keys of a pool. */
  readonly freePoolKeys: Readonly<Record<string, number>>;
  /** Payments that are not in the reports of revenue yet. */
  readonly revenue: {
    readonly reports: number;
    readonly delaySeconds: number;
    readonly backfill: number;
  };
}

/** What an operator should watch about the installation, read from the database once a minute. */
export interface InstallationFacts {
  readonly databaseBytes: number;
  /** When a backup was last written and verified; null: never. */
  readonly lastBackupAt: Date | null;
  /** The end of the days for which event partitions exist. */
  readonly eventPartitionsUntil: Date;
}

/** The lifetime of the signing key in use. */
export interface SigningKeyLifetime {
  readonly activeFrom: Date;
  /** When its successor replaces it; null: none is announced. */
  readonly retiredAt: Date | null;
}

/** Sets how gauges are read at each scrape; nothing is reported while the value is null. */
export interface Gauges {
  setHttpLoad(read: () => HttpLoad): void;
  /** Adds a queue of waiting calls. */
  setQueueDepth(queue: string, read: () => number): void;
  setDatabasePool(pool: PoolCounts): void;
  setBacklog(read: () => BacklogNumbers | null): void;
  setInstallation(read: () => InstallationFacts | null): void;
  /** Sets the numbers of licenses by status. */
  setLicenses(read: () => Readonly<Record<string, number>> | null): void;
  /** Sets the free space for the embedded database, in bytes. */
  setFreeDisk(read: () => number | null): void;
  setSigningKey(read: () => SigningKeyLifetime | null): void;
  /** The age of the roll-ups in seconds. */
  setRollupAge(read: () => number | null): void;
}

export function createGauges(registry: Registry): Gauges {
  return {
    setHttpLoad: (read) => addHttpLoad(registry, read),
    setQueueDepth: createQueueGauge(registry),
    setDatabasePool: (pool) => addPool(registry, pool),
    setBacklog: (read) => addBacklog(registry, read),
    setInstallation: (read) => addInstallation(registry, read),
    setLicenses: (read) =>
      addGauge(registry, {
        name: 'latchkey_licenses',
        help: 'Licenses by status, counted once a minute, or less often if there are many.',
        label: 'status',
        aggregator: 'max',
        read,
      }),
    setFreeDisk: (read) =>
      addGauge(registry, {
        name: 'latchkey_disk_free_bytes',
        help: 'Free space on the file system of the embedded database.',
        aggregator: 'min',
        read,
      }),
    setSigningKey: (read) => addSigningKey(registry, read),
    setRollupAge: (read) =>
      addGauge(registry, {
        name: 'latchkey_rollup_age_seconds',
        help: 'Time since the roll-ups of usage and events were up to date.',
        aggregator: 'min',
        read,
      }),
  };
}

/** Adds a gauge that is always 1; its labels hold the versions. */
export function addBuildInfo(registry: Registry, version: string): void {
  new Gauge({
    name: 'latchkey_build_info',
    help: 'Always 1; the labels show what is running.',
    labelNames: ['version', 'node_version'],
    aggregator: 'first',
    registers: [registry],
  }).set({ version, node_version: process.versions.node }, 1);
}

function createQueueGauge(registry: Registry): Gauges['setQueueDepth'] {
  const readers = new Map<string, () => number>();
  addGauge(registry, {
    name: 'latchkey_queue_depth',
    help: 'Calls that wait for their batch or for a limiter.',
    label: 'queue',
    read: () => Object.fromEntries(Array.from(readers, ([queue, read]) => [queue, read()])),
  });
  return (queue, read) => void readers.set(queue, read);
}

function addHttpLoad(registry: Registry, read: () => HttpLoad): void {
  addGauge(registry, {
    name: 'latchkey_http_load_state',
    help: '1 for the present state (of several workers, how many are in it): normal; overloaded: some requests are refused for lack of memory; refusing: most are, and the readiness probe fails.',
    label: 'state',
    // Each state has a series, of which the present one is 1 (OpenMetrics, StateSet).
    read: () => ({ normal: 0, overloaded: 0, refusing: 0, [read().state]: 1 }),
  });
  addGauge(registry, {
    name: 'latchkey_http_memory_bytes',
    help: 'Memory reserved for requests in progress, by the size of their bodies.',
    label: 'bodies',
    read: () => {
      const { usual, large } = read().memory;
      return { usual: usual.usedBytes, large: large.usedBytes };
    },
  });
  addGauge(registry, {
    name: 'latchkey_http_memory_limit_bytes',
    help: 'Memory that requests in progress may reserve, by the size of their bodies.',
    label: 'bodies',
    read: () => {
      const { usual, large } = read().memory;
      return { usual: usual.maxBytes, large: large.maxBytes };
    },
  });
}

function addPool(registry: Registry, pool: PoolCounts): void {
  addGauge(registry, {
    name: 'latchkey_database_pool_connections',
    help: 'Connections to the database by state.',
    label: 'state',
    read: () => ({ idle: pool.idleCount, used: pool.totalCount - pool.idleCount }),
  });
  addGauge(registry, {
    name: 'latchkey_database_pool_waiting',
    help: 'Callers that wait for a connection.',
    read: () => pool.waitingCount,
  });
}

function addBacklog(registry: Registry, read: () => BacklogNumbers | null): void {
  addGauge(registry, {
    name: 'latchkey_jobs',
    aggregator: 'max',
    help: 'Jobs in the database, counted once a minute.',
    label: 'state',
    read: () => {
      const jobs = read()?.jobs;
      return jobs ? { open: jobs.open, failed: jobs.failed } : null;
    },
  });
  addGauge(registry, {
    name: 'latchkey_payment_events_unapplied',
    aggregator: 'max',
    help: 'Events of payment providers that were not applied, counted once a minute.',
    label: 'status',
    read: () => read()?.events ?? null,
  });
  addGauge(registry, {
    name: 'latchkey_undelivered',
    aggregator: 'max',
    help: 'E-mails with keys and deliveries to endpoints that failed for good in the last week, and endpoints that are disabled because they failed, counted once a minute.',
    label: 'kind',
    read: () => {
      const undelivered = read()?.undelivered;
      if (undelivered === undefined) return null;
      const { keyEmails, ...others } = undelivered;
      return { key_emails: keyEmails, ...others };
    },
  });
  addGauge(registry, {
    name: 'latchkey_key_pool_free_keys',
    aggregator: 'max',
    help: 'Free keys of the products that take their keys from a pool, counted once a minute.',
    label: 'product',
    read: () => read()?.freePoolKeys ?? null,
  });
  addRevenue(registry, () => read()?.revenue ?? null);
}

function addRevenue(registry: Registry, read: () => BacklogNumbers['revenue'] | null): void {
  addGauge(registry, {
    name: 'latchkey_revenue_uncounted',
    aggregator: 'max',
    help: 'Reports of payments that revenue does not contain yet, at most 1,000, and payments from before its roll-up, at most 100,000; counted once a minute.',
    label: 'kind',
    read: () => {
      const revenue = read();
      return revenue && { reports: revenue.reports, backfill: revenue.backfill };
    },
  });
  addGauge(registry, {
    name: 'latchkey_revenue_delay_seconds',
    aggregator: 'max',
    help: 'How long the oldest report of a payment waits to be counted into revenue, read once a minute; 0 without one.',
    read: () => read()?.delaySeconds ?? null,
  });
}

function addInstallation(registry: Registry, read: () => InstallationFacts | null): void {
  addGauge(registry, {
    name: 'latchkey_database_size_bytes',
    help: 'Size of the database on its server, read once a minute.',
    aggregator: 'max',
    read: () => read()?.databaseBytes ?? null,
  });
  addGauge(registry, {
    name: 'latchkey_backup_last_success_timestamp_seconds',
    help: 'Time of the last backup that latchkey backup wrote and verified.',
    aggregator: 'max',
    read: () => toSeconds(read()?.lastBackupAt),
  });
  addGauge(registry, {
    name: 'latchkey_event_partitions_until_timestamp_seconds',
    help: 'End of the days for which event partitions exist; later events cannot be stored.',
    aggregator: 'max',
    read: () => toSeconds(read()?.eventPartitionsUntil),
  });
}

function addSigningKey(registry: Registry, read: () => SigningKeyLifetime | null): void {
  addGauge(registry, {
    name: 'latchkey_signing_key_active_from_timestamp_seconds',
    help: 'Time since when the present signing key signs.',
    aggregator: 'max',
    read: () => toSeconds(read()?.activeFrom),
  });
  addGauge(registry, {
    name: 'latchkey_signing_key_retires_timestamp_seconds',
    help: 'Time when the announced successor replaces the present signing key.',
    aggregator: 'min',
    read: () => toSeconds(read()?.retiredAt),
  });
}

function toSeconds(time: Date | null | undefined): number | null {
  return time === null || time === undefined ? null : time.getTime() / 1_000;
}

interface GaugeOptions {
  readonly name: string;
  readonly help: string;
  /** Default: no label. */
  readonly label?: string;
  /** How the values of several workers are combined. Default: summed. */
  readonly aggregator?: 'max' | 'min';
  /** Returns the value, or the values by those of the label; null: no value. */
  readonly read: () => number | Readonly<Record<string, number>> | null;
}

function addGauge(registry: Registry, options: GaugeOptions): void {
  const { name, help, label, aggregator = 'sum', read } = options;
  const gauge = new Gauge({
    name,
    help,
    aggregator,
    labelNames: label === undefined ? [] : [label],
    registers: [],
    collect() {
      const value = read();
      if (typeof value === 'number') this.set(value);
      else if (label === undefined) this.remove();
      else setAll(this, label, value ?? {});
    },
  });
  registry.registerMetric(gauge);
}

/** Replaces the values by label: what is not counted any more, such as a removed product, ends. */
function setAll(gauge: Gauge, label: string, values: Readonly<Record<string, number>>): void {
  gauge.reset();
  for (const [key, each] of Object.entries(values)) gauge.set({ [label]: key }, each);
}
