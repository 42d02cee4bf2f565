import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type { AgentDiskHealth } from '@latchkey/contract';

import type { Collector } from '../collector.ts';
import { ASLEEP_STATUS, parseSmartctl, type SmartctlAnswer } from '../parse/smartctl.ts';
import { findProgram } from '../read/program.ts';
import type { Roots } from '../roots.ts';
import { Child } from './child.ts';
import { listDisks } from './disk-facts.ts';
import { readKeptDiskHealth } from './kept-disk-health.ts';

export interface DiskHealthOptions {
  /** Where smartctl lies; without it, as in PATH, and where it is when PATH has no programs of root. */
  readonly searchPath?: string;
  /** For the time of a reading. */
  readonly now?: () => Date;
}

/** PATH of services and of people often lacks the programs of root. */
const USUAL_PATH =
  '/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/run/current-system/sw/bin';

/** Those that can say anything: disks of virtual machines and memory cards cannot. */
const CAN_TELL = /^(sd[a-z]+|hd[a-z]+|nvme\d+n\d+)$/;

/** The start of a machine is no time for this. */
const FIRST_AFTER_MS = 60_000;

const INTERVAL_MS = 1_800_000;

/** A disk that cannot be asked is tried again this often. */
const REST_MS = 86_400_000;

/** A disk that needs longer hangs. */
const PATIENCE_MS = 30_000;

/** What was not confirmed for so long is no longer told. */
const FRESH_MS = 10_800_000;

/** About 40 kB is usual. */
const OUTPUT_BYTES = 256 * 1024;

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
  /** When it said this, or was asleep, last. */
  confirmedAtMs: number;
  restUntilMs: number;
  /** The program that hangs about it; it is not asked while that is there. */
  hanging: Child | null;
}

/**
 * What disks say of their health, from `smartctl`, started for one disk after the other every half hour. Null without
 * smartctl, and while no disk has said anything.
 */
export function openDiskHealthCollector(
  roots: Roots,
  options: DiskHealthOptions = {},
): Collector<AgentDiskHealth[]> {
  const { searchPath = `${process.env['PATH'] ?? ''}:${USUAL_PATH}`, now = () => new Date() } =
    options;
  let disks: ReadonlyMap<string, Disk> = new Map();
  let queue: string[] = [];
  let asked: { readonly device: string; readonly child: Child; readonly sinceMs: number } | null =
    null;
  let nextRoundAtMs: number | null = null;
  let program: string | null = null;
  let wasForbidden = false;
  let problem: string | null = null;

  function beginRound(atMs: number): void {
    nextRoundAtMs = atMs + INTERVAL_MS;
    program = findProgram('smartctl', searchPath);
    disks = program === null ? new Map() : look(roots, disks);
    queue = [...disks].filter(([, disk]) => mayAsk(disk, atMs)).map(([device]) => device);
  }

  function askNext(atMs: number): void {
    const device = queue.shift();
    if (device === undefined) return;
    const kept = readKeptDiskHealth(roots, device);
    if (kept !== null) return note(device, kept.answer, atMs, kept.readAt);
    if (program === null) return;
    const child = new Child(program, [...ARGS, join(roots.dev, device)], OUTPUT_BYTES);
    asked = { device, child, sinceMs: atMs };
  }

  function attend({ device, child, sinceMs }: NonNullable<typeof asked>, atMs: number): void {
    const disk = disks.get(device);
    const hasEnded = child.ended() !== null;
    if (!hasEnded && atMs - sinceMs <= PATIENCE_MS) return;
    asked = null;
    if (hasEnded) note(device, parseAnswer(child), atMs);
    else {
      problem = `smartctl did not answer in ${PATIENCE_MS / 1000} s about ${device}.`;
      if (disk !== undefined) disk.hanging = child;
    }
    child.release();
  }

  function note(device: string, answer: SmartctlAnswer, atMs: number, readAt = now()): void {
    const disk = disks.get(device);
    if (disk === undefined || now().getTime() - readAt.getTime() > FRESH_MS) return;
    record(disk, device, answer, atMs, readAt);
    if (answer.kind !== 'forbidden' || wasForbidden) return;
    wasForbidden = true;
    problem = `smartctl may not ask the disk ${device}; ${TO_DO}`;
  }

  return {
    collect(atMs) {
      nextRoundAtMs ??= atMs + FIRST_AFTER_MS;
      if (asked !== null) attend(asked, atMs);
      else if (queue.length > 0) askNext(atMs);
      else if (atMs >= nextRoundAtMs) beginRound(atMs);
      return disks.size === 0 ? null : listFresh(disks, atMs);
    },
    takeProblem() {
      const taken = problem;
      problem = null;
      return taken;
    },
    close() {
      asked?.child.release();
      asked = null;
    },
  };
}

function record(
  disk: Disk,
  device: string,
  answer: SmartctlAnswer,
  atMs: number,
  readAt: Date,
): void {
  if (answer.kind === 'read')
    disk.reading = { device, read_at: readAt.toISOString(), ...answer.health };
  if (answer.kind === 'read' || answer.kind === 'asleep') disk.confirmedAtMs = atMs;
  if (answer.kind === 'forbidden' || answer.kind === 'unsupported')
    disk.restUntilMs = atMs + REST_MS;
}

/** The disks there are now that may be asked; those that were there before keep what they said. */
function look(roots: Roots, before: ReadonlyMap<string, Disk>): ReadonlyMap<string, Disk> {
  const devices = listDisks(roots)
    .map(({ device }) => device)
    .filter((device) => CAN_TELL.test(device) && existsSync(join(roots.dev, device)));
  return new Map(devices.map((device) => [device, before.get(device) ?? openDisk()]));
}

function openDisk(): Disk {
  const never = Number.NEGATIVE_INFINITY;
  return { reading: null, confirmedAtMs: never, restUntilMs: never, hanging: null };
}

function mayAsk(disk: Disk, atMs: number): boolean {
  if (disk.hanging !== null && disk.hanging.ended() !== null) disk.hanging = null;
  return disk.hanging === null && atMs >= disk.restUntilMs;
}

function parseAnswer(child: Child): SmartctlAnswer {
  return parseSmartctl(child.readNews()?.toString('utf8') ?? '', child.exitStatus());
}

function listFresh(disks: ReadonlyMap<string, Disk>, atMs: number): AgentDiskHealth[] | null {
  const fresh: AgentDiskHealth[] = [];
  for (const { reading, confirmedAtMs } of disks.values())
    if (reading !== null && atMs - confirmedAtMs <= FRESH_MS) fresh.push(reading);
  return fresh.length === 0 ? null : fresh;
}
