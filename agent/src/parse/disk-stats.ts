import { Scanner } from './scanner.ts';

/** A line of /proc/diskstats, since boot. The sums of time are of 32 bits and wrap after 50 days of work. */
export interface DiskCounters {
  readonly reads: number;
  readonly readBytes: number;
  readonly readMs: number;
  readonly writes: number;
  readonly writtenBytes: number;
  readonly writeMs: number;
  /** Time with a request under way. */
  readonly busyMs: number;
  /** The same, times the number of requests. */
  readonly queueMs: number;
}

/** Of the kernel, whatever the disk's own are. */
const SECTOR_BYTES = 512;

/**
 * Reads /proc/diskstats (kernel documentation, admin-guide/iostats).
 * @param isWanted which devices to read, by name
 */
export function parseDiskStats(
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
  const next = (): number => scanner.readNumber();
  const skip = (): void => scanner.skipWords(1);
  const reads = next();
  skip();
  const [readBytes, readMs, writes] = [next() * SECTOR_BYTES, next(), next()];
  skip();
  const [writtenBytes, writeMs] = [next() * SECTOR_BYTES, next()];
  skip();
  return {
    reads,
    readBytes,
    readMs,
    writes,
    writtenBytes,
    writeMs,
    busyMs: next(),
    queueMs: next(),
  };
}
