import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type { AgentDiskHealth } from '@latchkey/contract';

import type { Collector } from '../collector.ts';
import { listPresent } from '../metric-values.ts';
import {
  ASLEEP_STATUS,
  parseSmartctl,
  type SmartctlAnswer,
  MAX_SMARTCTL_BYTES,
} from '../parse/smartctl.ts';
import { findProgram, readText } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';
import { Child } from './child.ts';
import { listDisks } from './disk-facts.ts';
import { readStoredDiskHealth } from './stored-disk-health.ts';

interface DiskHealthOptions {
  /** Directories to search for smartctl; default: PATH and the usual directories for programs of root. */
  readonly searchPath?: string;
  /** For the time of a reading. */
  readonly now?: () => Date;
}

/** PATH of services and of people often lacks the programs of root. */
const USUAL_PATH =
  '/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/run/current-system/sw/bin';

/** Devices that can support SMART; virtual disks and memory cards do not. */
const SMART_DEVICE = /^(sd[a-z]+|hd[a-z]+|nvme\d+n\d+)$/;

/** The first round waits until the machine has booted. */
const FIRST_AFTER_MS = 60_000;

const INTERVAL_MS = 1_800_000;

/** A disk that cannot be read is retried after this time. */
const RETRY_MS = 86_400_000;

const TIMEOUT_MS = 30_000;

/** A reading is hidden when it was not confirmed for this time. */
const FRESH_MS = 10_800_000;

const ARGS = [
  '--json=c',
  '--quietmode=noserial',
  `--nocheck=standby,${ASLEEP_STATUS}`,
  '--info',
  '--health',
  '--attributes',
  '--log=error',
  '--log=selftest',
];

const TO_DO =
  'run latchkey-agent install again, which sets up a unit that reads them as root, or leave it: nothing else is missing.';

interface Disk {
  reading: AgentDiskHealth | null;
  /** The request counters of the kernel after the reading; null before the first, and where there are none. */
  counters: string | null;
  /** When the reading was made, or the disk was last seen asleep or unused. */
  confirmedAtMs: number;
  retryAtMs: number;
  /** A smartctl that timed out and is still there: the disk is not read until it exits. */
  hanging: Child | null;
}

interface Query {
  readonly device: string;
  readonly child: Child;
  readonly startedAtMs: number;
}

/**
 * Reads the health of disks every half hour, one disk after the other, from the unit's files or by running `smartctl`. It returns
 * null without smartctl, and until the first disk was read.
 */
export class DiskHealthCollector implements Collector<AgentDiskHealth[]> {
  readonly #roots: Roots;
  readonly #searchPath: string;
  readonly #now: () => Date;
  #disks: ReadonlyMap<string, Disk> = new Map();
  #queue: string[] = [];
  #query: Query | null = null;
  #nextRoundAtMs: number | null = null;
  #program: string | null = null;
  #wasForbidden = false;
  #problem: string | null = null;

  constructor(roots: Roots, { searchPath, now = () => new Date() }: DiskHealthOptions = {}) {
    this.#roots = roots;
    this.#searchPath = searchPath ?? `${process.env['PATH'] ?? ''}:${USUAL_PATH}`;
    this.#now = now;
  }

  collect(atMs: number): AgentDiskHealth[] | null {
    this.#nextRoundAtMs ??= atMs + FIRST_AFTER_MS;
    if (this.#query !== null) this.#checkQuery(this.#query, atMs);
    else if (this.#queue.length > 0) this.#readNext(atMs);
    else if (atMs >= this.#nextRoundAtMs) this.#startRound(atMs);
    return listFresh(this.#disks, atMs);
  }

  takeProblem(): string | null {
    const problem = this.#problem;
    this.#problem = null;
    return problem;
  }

  close(): void {
    this.#query?.child.release();
    this.#query = null;
  }

  #startRound(atMs: number): void {
    this.#nextRoundAtMs = atMs + INTERVAL_MS;
    this.#program = findProgram('smartctl', this.#searchPath);
    this.#disks = this.#program === null ? new Map() : this.#findDisks();
    const readable = [...this.#disks].filter(([, disk]) => isReadable(disk, atMs));
    this.#queue = readable.map(([device]) => device);
  }

  /** Returns the disks of this machine; those that are known keep their state. */
  #findDisks(): ReadonlyMap<string, Disk> {
    const devices = listDisks(this.#roots)
      .map(({ device }) => device)
      .filter((device) => SMART_DEVICE.test(device))
      .filter((device) => existsSync(join(this.#roots.dev, device)));
    return new Map(devices.map((device) => [device, this.#disks.get(device) ?? createDisk()]));
  }

  #readNext(atMs: number): void {
    const device = this.#queue.shift();
    if (device === undefined) return;
    const kept = readStoredDiskHealth(this.#roots, device);
    if (kept !== null) this.#record(device, kept.answer, atMs, kept);
    else if (this.#program !== null && !this.#confirmUnused(device, atMs)) {
      const args = [...ARGS, join(this.#roots.dev, device)];
      const child = new Child(this.#program, args, MAX_SMARTCTL_BYTES);
      this.#query = { device, child, startedAtMs: atMs };
    }
  }

  /** A SMART command may reset the timer by which a disk spins down, so a disk without requests since its reading is skipped. */
  #confirmUnused(device: string, atMs: number): boolean {
    const disk = this.#disks.get(device);
    if (disk === undefined || disk.counters === null) return false;
    if (disk.counters !== this.#readCounters(device)) return false;
    disk.confirmedAtMs = atMs;
    return true;
  }

  #readCounters(device: string): string | null {
    return readText(join(this.#roots.sys, 'block', device, 'stat'));
  }

  #checkQuery({ device, child, startedAtMs }: Query, atMs: number): void {
    const hasEnded = child.ended() !== null;
    if (!hasEnded && atMs - startedAtMs <= TIMEOUT_MS) return;
    this.#query = null;
    if (hasEnded) this.#record(device, parseAnswer(child), atMs);
    else {
      this.#problem = `smartctl did not answer in ${TIMEOUT_MS / 1000} s about ${device}.`;
      const disk = this.#disks.get(device);
      if (disk !== undefined) disk.hanging = child;
    }
    child.release();
  }

  #record(
    device: string,
    answer: SmartctlAnswer,
    atMs: number,
    { readAt, confirmedAt } = { readAt: this.#now(), confirmedAt: this.#now() },
  ): void {
    const disk = this.#disks.get(device);
    if (disk === undefined || this.#now().getTime() - confirmedAt.getTime() > FRESH_MS) return;
    const { kind } = answer;
    if (kind === 'read') disk.reading = { device, read_at: readAt.toISOString(), ...answer.health };
    if (kind === 'read' || kind === 'asleep') disk.confirmedAtMs = atMs;
    if (kind === 'forbidden' || kind === 'unsupported') disk.retryAtMs = atMs + RETRY_MS;
    disk.counters = kind === 'read' ? this.#readCounters(device) : null;
    if (kind !== 'forbidden' || this.#wasForbidden) return;
    this.#wasForbidden = true;
    this.#problem = `smartctl may not ask the disk ${device}; ${TO_DO}`;
  }
}

function createDisk(): Disk {
  const never = Number.NEGATIVE_INFINITY;
  return { reading: null, counters: null, confirmedAtMs: never, retryAtMs: never, hanging: null };
}

function isReadable(disk: Disk, atMs: number): boolean {
  if (disk.hanging !== null && disk.hanging.ended() !== null) disk.hanging = null;
  return disk.hanging === null && atMs >= disk.retryAtMs;
}

function parseAnswer(child: Child): SmartctlAnswer {
  return parseSmartctl(child.readNewOutput()?.toString('utf8') ?? '', child.exitStatus());
}

function listFresh(disks: ReadonlyMap<string, Disk>, atMs: number): AgentDiskHealth[] | null {
  const fresh = [...disks.values()].filter(({ confirmedAtMs }) => atMs - confirmedAtMs <= FRESH_MS);
  return listPresent(fresh.map(({ reading }) => reading));
}
