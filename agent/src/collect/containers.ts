import { join } from 'node:path';

import type { AgentContainer } from '@latchkey/contract';

import { type Collector, every } from '../collector.ts';
import { listPresent, present, Rates, round } from '../metric-values.ts';
import { keys, parseKeyValues, Scanner } from '../parse/scanner.ts';
import { KernelFile } from '../read/kernel-file.ts';
import { listDirectory, parseNumber, readText } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';
import { type ContainerGroup, listContainers } from './list-containers.ts';

const INTERVAL_MS = 2_000;

const SCAN_INTERVAL_MS = 10_000;

const CPU = keys('usage_usec');
const MEMORY = keys('inactive_file');

const MICROSECONDS = 1_000_000;

type FileName =
  | 'cpu.stat'
  | 'io.stat'
  | 'memory.current'
  | 'memory.max'
  | 'memory.stat'
  | 'pids.current';

interface TrackedContainer {
  readonly group: ContainerGroup;
  readonly files: Readonly<Record<FileName, KernelFile>>;
  rates: Rates<'cpu' | 'read' | 'write'>;
}

/**
 * Collects the use of containers from their control groups (version 2); null without containers, and with version 1. Only the
 * engine knows their names, and its socket grants root.
 */
export function openContainersCollector(roots: Roots): Collector<AgentContainer[]> {
  const root = join(roots.sys, 'fs/cgroup');
  const leaves = new LeafDevices(roots);
  const isScanDue = every(SCAN_INTERVAL_MS);
  let isDue = every(INTERVAL_MS);
  let tracked: ReadonlyMap<string, TrackedContainer> = new Map();
  let last: AgentContainer[] | null = null;

  function scan(): void {
    leaves.clear();
    const isVersion2 = readText(join(root, 'cgroup.controllers'))?.includes('memory') === true;
    const groups = isVersion2 ? listContainers(root) : [];
    const now = new Map(
      groups.map((group) => [
        group.directory,
        tracked.get(group.directory) ?? openContainer(group),
      ]),
    );
    for (const [directory, each] of tracked) if (!now.has(directory)) closeContainer(each);
    tracked = now;
  }

  return {
    collect(atMs) {
      if (isScanDue(atMs)) scan();
      if (!isDue(atMs)) return last;
      last = listPresent(
        [...tracked.values()].map((each) => describeContainer(each, leaves, atMs)),
      );
      return last;
    },
    idle() {
      if (last === null) return;
      last = null;
      isDue = every(INTERVAL_MS);
      // Otherwise the first rates after a pause would cover all of it.
      for (const each of tracked.values()) each.rates = new Rates();
    },
    close: () => tracked.forEach(closeContainer),
  };
}

function openContainer(group: ContainerGroup): TrackedContainer {
  const open = (name: FileName): KernelFile => new KernelFile(join(group.directory, name));
  return {
    group,
    rates: new Rates(),
    files: {
      'cpu.stat': open('cpu.stat'),
      'memory.current': open('memory.current'),
      'memory.stat': open('memory.stat'),
      'memory.max': open('memory.max'),
      'io.stat': open('io.stat'),
      'pids.current': open('pids.current'),
    },
  };
}

function closeContainer({ files }: TrackedContainer): void {
  for (const file of Object.values(files)) file.close();
}

/** Returns null when the container has ended. */
function describeContainer(
  tracked: TrackedContainer,
  leaves: LeafDevices,
  atMs: number,
): AgentContainer | null {
  const { group, files, rates } = tracked;
  const cpu = files['cpu.stat'].read();
  if (cpu === null) return null;
  const usage = parseKeyValues(cpu, CPU).get('usage_usec') ?? null;
  const io = files['io.stat'].read();
  const moved = io === null ? null : sumIo(io, leaves);
  return present({
    id: group.id,
    runtime: group.runtime,
    cpu_cores: usage === null ? null : round(rates.next('cpu', usage / MICROSECONDS, atMs)),
    memory_bytes: readMemory(tracked),
    memory_limit_bytes: readFigure(files['memory.max']),
    read_bytes_per_second: moved === null ? null : round(rates.next('read', moved.read, atMs)),
    write_bytes_per_second: moved === null ? null : round(rates.next('write', moved.written, atMs)),
    processes: readFigure(files['pids.current']),
  });
}

/** Returns the memory without inactive page cache, as container engines report it. */
function readMemory({ files }: TrackedContainer): number | null {
  const current = readFigure(files['memory.current']);
  const stat = current === null ? null : files['memory.stat'].read();
  if (current === null || stat === null) return null;
  // The two files are not read atomically.
  return Math.max(0, current - (parseKeyValues(stat, MEMORY).get('inactive_file') ?? 0));
}

/** A number; null for anything else, such as `max`. */
function readFigure(file: KernelFile): number | null {
  return parseNumber(file.read()?.toString('latin1').trim() ?? null);
}

/** Sums lines of `8:0 rbytes=1 wbytes=2 …`, one for each block device. */
function sumIo(
  bytes: Buffer,
  leaves: LeafDevices,
): { readonly read: number; readonly written: number } {
  const sums = { read: 0, written: 0 };
  for (const scanner = new Scanner(bytes); !scanner.isAtEnd(); scanner.skipLine()) {
    if (!leaves.has(scanner.readWord())) continue;
    for (let word = scanner.readWord(); word !== ''; word = scanner.readWord()) {
      if (word.startsWith('rbytes=')) sums.read += Number(word.slice(7));
      if (word.startsWith('wbytes=')) sums.written += Number(word.slice(7));
    }
  }
  return sums;
}

/** Directories of a stacked block device: device mapper (LVM, LUKS), RAID, loop. */
const STACKED = ['dm', 'md', 'loop'];

/**
 * Distinguishes stacked block devices from leaf devices. The kernel counts a request once for each device that it passes: a
 * container's write to LVM on LUKS on RAID is in `io.stat` four times.
 */
class LeafDevices {
  readonly #directory: string;
  readonly #known = new Map<string, boolean>();

  constructor(roots: Roots) {
    this.#directory = join(roots.sys, 'dev/block');
  }

  /**
   * Whether a device is a leaf. A device that is not in /sys counts as one.
   * @param number major and minor, `253:0`
   */
  has(number: string): boolean {
    const known = this.#known.get(number);
    if (known !== undefined) return known;
    const isLeaf = this.#check(number);
    this.#known.set(number, isLeaf);
    return isLeaf;
  }

  /** Clears the cache: a number may be assigned to another device. */
  clear(): void {
    this.#known.clear();
  }

  #check(number: string): boolean {
    if (!/^\d{1,5}:\d{1,7}$/.test(number)) return true;
    const directory = join(this.#directory, number);
    const names = new Set(listDirectory(directory));
    if (STACKED.some((name) => names.has(name))) return false;
    return listDirectory(join(directory, 'slaves')).length === 0;
  }
}
