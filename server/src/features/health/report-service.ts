import { statfs } from 'node:fs/promises';

import type { ServiceHealth } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Config } from '#server/config/config.ts';
import { hasCode } from '#server/lib/unknown-values.ts';

import type { Health } from './check-health.ts';
import type { Backlog } from './count-backlog.ts';
import { listTableSizes, measureDatabase } from './queries.ts';

interface Queue {
  readonly queued: number;
}

export interface ServiceReportDependencies {
  readonly pool: Pool;
  readonly config: Pick<Config, 'database' | 'dataDirectory'>;
  readonly databaseLimiter: Queue;
  readonly licenseLimiter: Queue;
  readonly lookUpLimiter: Queue;
  readonly outreach: Queue;
}

/** The parts of the report that belong to the process. */
export interface ProcessFacts {
  readonly health: Health;
  readonly startedAt: Date;
  readonly readBacklog: () => Promise<Backlog>;
}

/** Reports the health of the service with what operators need to judge it. */
export async function reportService(
  deps: ServiceReportDependencies,
  { health, startedAt, readBacklog }: ProcessFacts,
): Promise<ServiceHealth> {
  const { status, version, uptime_seconds: uptime, checks } = await health.report();
  return {
    status,
    version,
    node_version: process.versions.node,
    started_at: startedAt.toISOString(),
    uptime_seconds: uptime,
    memory_bytes: readResidentBytes(),
    checks,
    backlog: viewBacklog(await readBacklog()),
    queues: [
      { name: 'database', waiting: deps.databaseLimiter.queued },
      { name: 'activations', waiting: deps.licenseLimiter.queued },
      { name: 'key look-ups', waiting: deps.lookUpLimiter.queued },
      { name: 'outreach', waiting: deps.outreach.queued },
    ],
    database: await reportDatabase(deps),
    disk: await readDisk(deps.config.dataDirectory),
  };
}

/** The resident memory is read from a file; while the process can open none, its peak is returned, which the kernel counts. */
function readResidentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch (error) {
    if (!hasCode(error, 'EMFILE') && !hasCode(error, 'ENFILE')) throw error;
    return process.resourceUsage().maxRSS * 1_024;
  }
}

function viewBacklog(backlog: Backlog): ServiceHealth['backlog'] {
  const { jobs, events, undelivered, isReconciliationFailing } = backlog;
  return {
    jobs_open: jobs.open,
    jobs_failed: jobs.failed,
    payment_events_failed: events.failed,
    payment_events_deferred: events.deferred,
    key_emails_undelivered: undelivered.keyEmails,
    deliveries_failed: undelivered.deliveries,
    endpoints_disabled: undelivered.endpoints,
    reconciliation_failing: isReconciliationFailing,
  };
}

async function reportDatabase({
  config,
  pool,
}: ServiceReportDependencies): Promise<ServiceHealth['database']> {
  const { version, bytes, connections, maxConnections } = await measureDatabase(pool);
  return {
    kind: config.database.kind,
    version,
    bytes,
    connections,
    max_connections: maxConnections,
    pool: {
      size: config.database.poolSize,
      open: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    },
    tables: await listTableSizes(pool),
  };
}

/** With an external database, the data directory may not exist. */
async function readDisk(path: string): Promise<ServiceHealth['disk']> {
  try {
    const { bavail, blocks, bsize } = await statfs(path);
    return { path, free_bytes: bavail * bsize, total_bytes: blocks * bsize };
  } catch {
    return null;
  }
}
