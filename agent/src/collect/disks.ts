import { join } from 'node:path';

import type { AgentDisk } from '@latchkey/contract';

import type { Collector } from '../collector.ts';
import { listPresent, present, Rates, round, toRatio } from '../metric-values.ts';
import { Scanner } from '../parse/scanner.ts';
import { KernelFile } from '../read/kernel-file.ts';
import type { Roots } from '../roots.ts';
import { type DiskFacts, listDisks } from './disk-facts.ts';

const MS_PER_SECOND = 1000;

/** How often disks are searched again; a disk that vanishes triggers a search at once. */
const SCAN_INTERVAL_MS = 10_000;

interface KnownDisk {
  readonly facts: DiskFacts;
  readonly rates: Rates<keyof DiskCounters>;
}

/** Collects throughput, latency and load of disks, mappers and RAIDs from /proc/diskstats; partitions are left out. */
export function openDisksCollector(roots: Roots): Collector<AgentDisk[]> {
  const file = new KernelFile(join(roots.proc, 'diskstats'));
  let known: ReadonlyMap<string, KnownDisk> = new Map();
  let scanAtMs = Number.NEGATIVE_INFINITY;
  let shownCount = 0;
  return {
    collect(atMs) {
      if (atMs >= scanAtMs) {
        known = scan(roots, known);
        scanAtMs = atMs + SCAN_INTERVAL_MS;
      }
      const bytes = known.size === 0 ? null : file.read();
      if (bytes === null) return null;
      const disks = parseDiskStats(bytes, (device) => known.has(device));
      // Compared with the last table: in an LXC container, the host's disks are never in it.
      if (disks.size < shownCount) scanAtMs = atMs;
      shownCount = disks.size;
      const parts = [...disks].map(([device, counters]) =>
        describeDisk(known.get(device), counters, atMs),
      );
      return listPresent(parts);
    },
    close: () => file.close(),
  };
}

/** Returns the present disks; known ones keep their counters. */
function scan(
  roots: Roots,
  before: ReadonlyMap<string, KnownDisk>,
): ReadonlyMap<string, KnownDisk> {
  return new Map(
    listDisks(roots).map((facts) => {
      const rates = before.get(facts.device)?.rates ?? new Rates<keyof DiskCounters>();
      return [facts.device, { facts, rates }];
    }),
  );
}

function describeDisk(
  disk: KnownDisk | undefined,
  counters: DiskCounters,
  atMs: number,
): AgentDisk | null {
  if (disk === undefined) return null;
  const rate = (name: keyof DiskCounters): number | null =>
    disk.rates.next(name, counters[name], atMs);
  const [reads, writes] = [rate('reads_total'), rate('writes_total')];
  const [busyMs, queueMs] = [rate('busyMs'), rate('queueMs')];
  return {
    ...disk.facts,
    ...present({
      read_bytes_per_second: round(rate('read_bytes_total')),
      write_bytes_per_second: round(rate('written_bytes_total')),
      reads_per_second: round(reads),
      writes_per_second: round(writes),
      read_latency_seconds: toLatencySeconds(rate('readMs'), reads),
      write_latency_seconds: toLatencySeconds(rate('writeMs'), writes),
      busy_ratio: busyMs === null ? null : toRatio(busyMs / MS_PER_SECOND),
      queue_depth: queueMs === null ? null : round(queueMs / MS_PER_SECOND),
    }),
    read_bytes_total: counters.read_bytes_total,
    written_bytes_total: counters.written_bytes_total,
    reads_total: counters.reads_total,
    writes_total: counters.writes_total,
  };
}

/** Returns the time per request, rounded to microseconds; null without requests. */
function toLatencySeconds(msPerSecond: number | null, perSecond: number | null): number | null {
  if (msPerSecond === null || perSecond === null || perSecond === 0) return null;
  return Math.round((msPerSecond / perSecond) * MS_PER_SECOND) / 1_000_000;
}

/** A line of /proc/diskstats, since boot. The times have 32 bits and wrap after 50 days of load. */
interface DiskCounters {
  readonly reads_total: number;
  readonly read_bytes_total: number;
  readonly readMs: number;
  readonly writes_total: number;
  readonly written_bytes_total: number;
  readonly writeMs: number;
  /** Time with a request in flight. */
  readonly busyMs: number;
  /** The same, weighted by the number of requests. */
  readonly queueMs: number;
}

/** The unit of the kernel, independent of the disk's own sectors. */
const SECTOR_BYTES = 512;

/**
 * Parses /proc/diskstats (kernel documentation, admin-guide/iostats).
 * @param isWanted selects devices by name
 */
function parseDiskStats(
  bytes: Buffer,
  isWanted: (device: string) => boolean,
): Map<string, DiskCounters> {
  const disks = new Map<string, DiskCounters>();
  for (const scanner = new Scanner(bytes); !scanner.isAtEnd(); scanner.skipLine()) {
    scanner.skipWords(2);
    const device = scanner.readWord();
    if (!isWanted(device)) continue;
    const counters = readCounters(scanner);
    if (!Number.isNaN(counters.queueMs)) disks.set(device, counters);
  }
  return disks;
}

function readCounters(scanner: Scanner): DiskCounters {
  const next = (skipped = 0): number => {
    scanner.skipWords(skipped);
    return scanner.readNumber();
  };
  return {
    reads_total: next(),
    read_bytes_total: next(1) * SECTOR_BYTES,
    readMs: next(),
    writes_total: next(),
    written_bytes_total: next(1) * SECTOR_BYTES,
    writeMs: next(),
    busyMs: next(1),
    queueMs: next(),
  };
}
