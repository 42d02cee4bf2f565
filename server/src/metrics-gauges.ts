import { Gauge, type Registry } from 'prom-client';

import type { HttpLoad, Metrics } from './metrics.ts';

/** What a gauge is called, and what its one label names. */
interface LabelledGauge {
  readonly name: string;
  readonly help: string;
  readonly label: string;
}

/** Always 1; what is worth knowing stands in its labels. */
export function addBuildInfo(registry: Registry, version: string): void {
  new Gauge({
    name: 'latchkey_build_info',
    help: 'Always 1; the labels tell what is running.',
    labelNames: ['version', 'node_version'],
    registers: [registry],
  }).set({ version, node_version: process.versions.node }, 1);
}

export function addQueueGauge(registry: Registry): Metrics['setQueueDepth'] {
  const readers = new Map<string, () => number>();
  const gauge = {
    name: 'latchkey_queue_depth',
    help: 'Calls that wait for their batch.',
    label: 'queue',
  };
  addLabelledGauge(registry, gauge, () =>
    Object.fromEntries(Array.from(readers, ([queue, read]) => [queue, read()])),
  );
  return (name, read) => {
    readers.set(name, read);
  };
}

/** Each of the states has a series, of which the present one is 1 (OpenMetrics, StateSet). */
export function addHttpLoadGauges(registry: Registry): Metrics['setHttpLoad'] {
  let read: (() => HttpLoad) | null = null;
  const states = {
    name: 'latchkey_http_load_state',
    help: '1 for the present state: normal; overloaded: some requests are refused for lack of memory; refusing: most are, and the readiness probe fails.',
    label: 'state',
  };
  addLabelledGauge(registry, states, () => {
    const load = read?.();
    if (load === undefined) return null;
    const isState = (name: string) => Number(load.state === name);
    return {
      normal: isState('normal'),
      overloaded: isState('overloaded'),
      refusing: isState('refusing'),
    };
  });
  const used = {
    name: 'latchkey_http_memory_bytes',
    help: 'Memory reserved for requests in progress, by the size of their bodies.',
    label: 'bodies',
  };
  addLabelledGauge(registry, used, () => {
    const memory = read?.().memory;
    return memory === undefined ? null : mapMemory(memory, ({ usedBytes }) => usedBytes);
  });
  const max = {
    name: 'latchkey_http_memory_limit_bytes',
    help: 'Memory that requests in progress may reserve, by the size of their bodies.',
    label: 'bodies',
  };
  addLabelledGauge(registry, max, () => {
    const memory = read?.().memory;
    return memory === undefined ? null : mapMemory(memory, ({ maxBytes }) => maxBytes);
  });
  return (reader) => {
    read = reader;
  };
}

function mapMemory(
  { usual, large }: HttpLoad['memory'],
  pick: (use: HttpLoad['memory']['usual']) => number,
): Record<'usual' | 'large', number> {
  return { usual: pick(usual), large: pick(large) };
}

export function addPoolGauges(
  registry: Registry,
  read: Parameters<Metrics['setDatabasePool']>[0],
): void {
  const connections = {
    name: 'latchkey_database_pool_connections',
    help: 'Connections to the database by state.',
    label: 'state',
  };
  addLabelledGauge(registry, connections, () => {
    const { total, idle } = read();
    return { idle, used: total - idle };
  });
  const waiting = {
    name: 'latchkey_database_pool_waiting',
    help: 'Callers that wait for a connection.',
  };
  addGauge(registry, waiting, () => read().waiting);
}

/** What is counted in the database once a minute: jobs, payment events, and what reached nobody. */
export function addBacklogGauges(
  registry: Registry,
  read: Parameters<Metrics['setBacklog']>[0],
): void {
  const jobs = {
    name: 'latchkey_jobs',
    help: 'Jobs in the database, counted once a minute.',
    label: 'state',
  };
  addLabelledGauge(registry, jobs, () => {
    const backlog = read();
    return backlog && { open: backlog.jobs.open, given_up: backlog.jobs.givenUp };
  });

  const events = {
    name: 'latchkey_payment_events_unapplied',
    help: 'Events of payment providers that were not applied, counted once a minute.',
    label: 'status',
  };
  addLabelledGauge(registry, events, () => {
    const backlog = read();
    return backlog && { deferred: backlog.events.deferred, failed: backlog.events.failed };
  });

  const undelivered = {
    name: 'latchkey_undelivered',
    help: 'E-mails with keys and deliveries to endpoints that failed for good in the last week, and endpoints that are disabled for failing, counted once a minute.',
    label: 'kind',
  };
  addLabelledGauge(registry, undelivered, () => {
    const backlog = read();
    if (backlog === null) return null;
    const { keyEmails, deliveries, endpoints } = backlog.undelivered;
    return { key_emails: keyEmails, deliveries, endpoints };
  });
}

export function addRollupGauge(
  registry: Registry,
  read: Parameters<Metrics['setRollupAge']>[0],
): void {
  const age = {
    name: 'latchkey_rollup_age_seconds',
    help: 'Time since the roll-ups of usage and events were up to date.',
  };
  addGauge(registry, age, read);
}

/** A gauge that is read at each scrape; nothing is told while its value is not known (null). */
function addGauge(
  registry: Registry,
  gauge: Pick<LabelledGauge, 'name' | 'help'>,
  read: () => number | null,
): void {
  const added = new Gauge({
    ...gauge,
    registers: [],
    collect() {
      const value = read();
      if (value === null) this.remove();
      else this.set(value);
    },
  });
  registry.registerMetric(added);
}

/** A gauge whose values are read at each scrape, by the values of its label; null while they are not known. */
function addLabelledGauge(
  registry: Registry,
  { name, help, label }: LabelledGauge,
  read: () => Readonly<Record<string, number>> | null,
): void {
  const added = new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [],
    collect() {
      for (const [named, value] of Object.entries(read() ?? {}))
        this.set({ [label]: named }, value);
    },
  });
  registry.registerMetric(added);
}
