import type { AgentHost, AgentSnapshot } from '@latchkey/contract';

import type { Clock } from '#agent/clock.ts';

import { changingHost, changingSnapshot } from '../changing-machine.ts';
import type { AgentPlan, Problem } from './plan.ts';

/** The seconds between the figures of two machines, so that their charts differ. */
const SHIFT_SECONDS = 13;

/** Snapshots by tick, since machines show the figures of others some seconds later: a hundred machines cost as much as one. */
const snapshots = new Map<number, AgentSnapshot>();
/** More than a fleet needs at a time. */
const MAX_SNAPSHOTS = 4000;

const PROBLEMS: Readonly<Record<Problem, (snapshot: AgentSnapshot) => Partial<AgentSnapshot>>> = {
  full: ({ filesystems = [] }) => ({
    filesystems: filesystems.map((each) => ({ ...each, usage_ratio: 0.93 })).slice(0, 1),
  }),
  stale: ({ filesystems = [] }) => ({
    filesystems: filesystems.filter(({ stale }) => stale === true),
  }),
  unit: () => ({ units: { failed: ['certbot.service'] } }),
  hot: ({ sensors }) => ({
    sensors: {
      ...sensors,
      temperatures: [
        { id: 'a', chip: 'k10temp', label: 'Tctl', temperature_celsius: 97, critical_celsius: 95 },
      ],
    },
  }),
  disk: ({ time }) => ({
    disk_health: [
      {
        device: 'sda',
        read_at: time,
        failing: true,
        prefail_now: false,
        prefail_past: true,
        error_log: true,
        self_test_failed: false,
      },
    ],
  }),
};

/** A machine with figures that change each second, and at most one problem. */
export class InventedMachine {
  readonly #plan: AgentPlan;
  readonly #clock: Clock;
  readonly #bootTimeMs: number;

  /** @param bootTimeMs in epoch milliseconds */
  constructor(plan: AgentPlan, clock: Clock, bootTimeMs: number) {
    this.#plan = plan;
    this.#clock = clock;
    this.#bootTimeMs = bootTimeMs;
  }

  readonly readHost = (): AgentHost => ({
    ...changingHost,
    hostname: this.#plan.id,
    boot_time: new Date(this.#bootTimeMs).toISOString(),
  });

  readonly sample = (): AgentSnapshot => {
    const time = this.#clock.now();
    const { problem, seed } = this.#plan;
    const snapshot = lookUp(toTick(seed, time.getTime()));
    return {
      ...snapshot,
      time: time.toISOString(),
      ...scale(snapshot, toFactor(seed)),
      uptime_seconds: Math.max(0, time.getTime() - this.#bootTimeMs) / 1000,
      units: { failed: [] },
      filesystems: (snapshot.filesystems ?? []).filter(({ usage_ratio: used = 1 }) => used < 0.9),
      ...(problem === null ? {} : PROBLEMS[problem](snapshot)),
    };
  };

  readonly wake = (): void => undefined;
}

/** Returns the processor usage that a machine had in a second. */
export function usageAt({ seed }: AgentPlan, timeMs: number): number {
  const { cpu } = lookUp(toTick(seed, timeMs));
  return (cpu?.usage_ratio ?? 0) * toFactor(seed);
}

function toTick(seed: number, timeMs: number): number {
  return Math.round(timeMs / 1000) + seed * SHIFT_SECONDS;
}

/** Some machines are busier than others. */
function toFactor(seed: number): number {
  return 0.2 + 0.8 * ((seed * 0.618) % 1);
}

function lookUp(tick: number): AgentSnapshot {
  const known = snapshots.get(tick);
  if (known !== undefined) return known;
  const snapshot = changingSnapshot(tick, new Date(0));
  snapshots.set(tick, snapshot);
  snapshots.delete(tick - MAX_SNAPSHOTS);
  return snapshot;
}

/** @param factor up to 1 */
function scale({ cpu, network }: AgentSnapshot, factor: number): Partial<AgentSnapshot> {
  return {
    ...(cpu === undefined ? {} : { cpu: { ...cpu, usage_ratio: (cpu.usage_ratio ?? 0) * factor } }),
    ...(network === undefined
      ? {}
      : {
          network: {
            ...network,
            receive_bytes_per_second: (network.receive_bytes_per_second ?? 0) * factor,
          },
        }),
  };
}
