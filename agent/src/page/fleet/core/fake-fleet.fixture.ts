import type { AgentHost, AgentNotice } from '@latchkey/contract';

import {
  type Figure,
  FIGURES,
  type Fleet,
  type FleetChange,
  type FleetEvent,
  type GapReason,
  HISTORY_SLOTS,
  type ListedMachine,
  type Machine,
  type MachineState,
} from './types.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A machine whose fields a test may set. */
export type FakeMachine = Mutable<Machine>;

/** A fleet without connections, for tests of the view and for looking at it. */
export interface FakeFleet extends Fleet {
  readonly machines: readonly FakeMachine[];
  readonly tokens: ReadonlyMap<string, string | null>;
  readonly retried: readonly string[];
  /** Advances the common clock by a second, with new figures for live machines. */
  tick(): void;
  /** Sets the state of a machine, records the event, and notifies the listeners. */
  setState(id: string, state: MachineState): void;
  setNotices(id: string, notices: readonly AgentNotice[]): void;
  /** Notifies the listeners after a test changed fields. */
  notify(change: FleetChange): void;
}

const GAPS: readonly (readonly [GapReason, detail?: string])[] = [
  ['token', 'The access token is not known.'],
  ['certificate_required', 'A client certificate is needed.'],
  ['origin'],
  ['no_upgrade'],
  ['unreachable'],
  ['private_address'],
  ['no_answer'],
  ['stopped', 'The agent stops.'],
  ['refused', 'Pages of this origin may not watch: allow it with latchkey-agent origins add.'],
];

const SITES = ['berlin', 'oslo', 'lisbon'] as const;
const ROLES = ['db', 'web', 'batch', 'cache'] as const;

/** The figures of a machine at full use. */
const SCALES: Readonly<Record<Figure, number>> = {
  cpu_usage_ratio: 1,
  load_1m: 16,
  memory_usage_ratio: 1,
  disk_read_bytes_per_second: 2e8,
  disk_write_bytes_per_second: 1e8,
  receive_bytes_per_second: 1.2e8,
  transmit_bytes_per_second: 1.2e8,
};

/**
 * Invents machines, the same ones each time: those 10 to 18 have a gap, one of each reason; 20 and 21 wait for an answer and a turn;
 * 30 to 40 have a notice of each code; 50 was rebooted, and the agent of 51 restarted; 52 has a hole of a minute in its history.
 * @param nowMs the time of the newest figures
 */
export function createFakeFleet(
  count = 100,
  nowMs = Date.parse('2026-11-21T12:00:00Z'),
): FakeFleet {
  return new InventedFleet(
    Array.from({ length: count }, (_, at) => listMachine(at)),
    nowMs,
  );
}

function listMachine(at: number): ListedMachine {
  const role = ROLES[at % ROLES.length] ?? 'db';
  const site = SITES[at % SITES.length] ?? 'oslo';
  const name = `${role}-${String(at + 1).padStart(3, '0')}`;
  return { id: name, name, address: `${name}.${site}.example.com:4096`, labels: [role, site] };
}

class InventedFleet implements FakeFleet {
  machines: readonly FakeMachine[];
  readonly events: FleetEvent[] = [];
  readonly tokens = new Map<string, string | null>();
  readonly retried: string[] = [];
  isPaused = false;
  #nowMs: number;
  readonly #listeners = new Set<(change: FleetChange) => void>();

  constructor(list: readonly ListedMachine[], nowMs: number) {
    this.#nowMs = nowMs;
    this.machines = list.map((listed, at) => inventMachine(listed, at, nowMs));
    const [rebooted, restarted] = this.machines.slice(50);
    if (rebooted !== undefined) this.#record(rebooted, { kind: 'rebooted' });
    if (restarted !== undefined) this.#record(restarted, { kind: 'agent_restarted' });
  }

  tick(): void {
    this.#nowMs += 1000;
    for (const [at, machine] of this.machines.entries()) advance(machine, at, this.#nowMs);
    this.notify('figures');
  }

  setState(id: string, state: MachineState): void {
    const machine = this.#find(id);
    const was = machine.state;
    machine.state = state;
    if (state.kind === 'gap') this.#record(machine, { ...state });
    else if (state.kind === 'live' && was.kind === 'gap') this.#record(machine, { kind: 'back' });
    this.notify('machines');
  }

  setNotices(id: string, notices: readonly AgentNotice[]): void {
    const machine = this.#find(id);
    for (const notice of notices) this.#record(machine, { kind: 'notice', notice });
    machine.notices = notices;
    this.notify('machines');
  }

  notify(change: FleetChange): void {
    for (const listener of this.#listeners) listener(change);
  }

  setList(list: readonly ListedMachine[]): void {
    const known = new Map(this.machines.map((each) => [each.listed.id, each]));
    this.machines = list.map((listed, at) => {
      const kept = known.get(listed.id) ?? inventMachine(listed, at, this.#nowMs);
      kept.listed = listed;
      return kept;
    });
    this.notify('machines');
  }

  setToken(id: string, token: string | null): void {
    this.tokens.set(id, token);
  }

  retry(id: string): void {
    this.retried.push(id);
  }

  pause(): void {
    this.isPaused = true;
    this.notify('machines');
  }

  resume(): void {
    this.isPaused = false;
    this.notify('machines');
  }

  subscribe(listener: (change: FleetChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#listeners.clear();
  }

  #find(id: string): FakeMachine {
    const found = this.machines.find(({ listed }) => listed.id === id);
    if (found === undefined) throw new Error(`No machine has the id ${id}.`);
    return found;
  }

  #record({ listed }: Machine, what: FleetEvent['what']): void {
    this.events.push({ at: this.#nowMs, machine: listed, what });
  }
}

function inventMachine(listed: ListedMachine, at: number, nowMs: number): FakeMachine {
  const columns = createColumns();
  const machine: FakeMachine = {
    listed,
    state: inventState(at, nowMs),
    host: inventHost(listed, at, nowMs),
    agentVersion: '1.0.0',
    machineId: at.toString(16).padStart(32, '0'),
    notices: inventNotices(at, nowMs),
    noticesOmitted: 0,
    history: { end: Math.floor(nowMs / 1000), columns },
    latest: figuresAt(at, nowMs),
    latestAt: nowMs,
    rebootedAt: at === 50 ? nowMs - 40_000 : null,
    agentRestartedAt: at === 51 ? nowMs - 90_000 : null,
  };
  for (let slot = 0; slot < HISTORY_SLOTS; slot += 1) {
    const isHole = at === 52 && slot >= 120 && slot < 180;
    const figures = figuresAt(at, nowMs - (HISTORY_SLOTS - 1 - slot) * 1000);
    for (const figure of FIGURES) columns[figure][slot] = isHole ? Number.NaN : figures[figure];
  }
  if (machine.state.kind === 'waiting') forget(machine);
  return machine;
}

/** Removes what is unknown before the first answer. */
function forget(machine: FakeMachine): void {
  machine.host = null;
  machine.agentVersion = null;
  machine.machineId = null;
  machine.notices = null;
  machine.latestAt = null;
  for (const column of Object.values(machine.history.columns)) column.fill(Number.NaN);
}

function inventState(at: number, nowMs: number): MachineState {
  const [reason, detail] = GAPS[at - 10] ?? [];
  if (reason !== undefined) {
    const since = nowMs - (at - 8) * 31_000;
    return { kind: 'gap', reason, since, ...(detail === undefined ? {} : { detail }) };
  }
  if (at === 20) return { kind: 'waiting', for: 'first_answer' };
  return at === 21 ? { kind: 'waiting', for: 'turn' } : { kind: 'live' };
}

function inventHost({ name }: ListedMachine, at: number, nowMs: number): AgentHost {
  return {
    hostname: name,
    os_name: 'Debian GNU/Linux 12 (bookworm)',
    kernel_version: '6.1.0-18-amd64',
    architecture: at % 5 === 0 ? 'arm64' : 'x64',
    cpu_model: 'AMD EPYC 7302P 16-Core Processor',
    cpu_logical_count: 16,
    memory_total_bytes: 32 * 2 ** 30,
    boot_time: new Date(nowMs - (at === 50 ? 40_000 : at * 86_400_000 + 3_600_000)).toISOString(),
    machine_type: at % 3 === 0 ? 'physical' : 'virtual',
  };
}

const NOTICES: readonly Omit<AgentNotice, 'since'>[] = [
  { code: 'unit_failed', severity: 'error', subject: 'postgresql.service', count: 3 },
  { code: 'disk_failing', severity: 'error', subject: 'sda' },
  { code: 'disk_prefail', severity: 'error', subject: 'nvme0n1' },
  { code: 'disk_self_test_failed', severity: 'warning', subject: 'sdb' },
  { code: 'disk_worn', severity: 'warning', subject: 'nvme1n1', ratio: 1.04 },
  { code: 'filesystem_stale', severity: 'error', subject: '/mnt/backup' },
  { code: 'filesystem_full', severity: 'warning', subject: '/var', ratio: 0.93 },
  { code: 'temperature_high', severity: 'warning', subject: 'coretemp', celsius: 91 },
  { code: 'under_voltage', severity: 'error' },
  { code: 'throttled', severity: 'warning' },
  { code: 'battery_low', severity: 'warning', subject: 'BAT0', ratio: 0.08 },
];

function inventNotices(at: number, nowMs: number): readonly AgentNotice[] {
  const notice = NOTICES[at - 30];
  if (notice === undefined) return [];
  return [{ ...notice, since: new Date(nowMs - (at - 29) * 67_000).toISOString() }];
}

function figuresAt(at: number, timeMs: number): Record<Figure, number> {
  const seconds = timeMs / 1000;
  const figures = { ...SCALES };
  for (const [index, figure] of FIGURES.entries()) {
    const wave = Math.sin(seconds / (11 + index * 7 + (at % 13)) + at) * 0.6;
    const ripple = Math.sin(seconds * (1.3 + (at % 7) / 5) + index) * 0.2;
    const load = 0.12 + 0.7 * ((at * 37) % 100) * 0.01;
    figures[figure] = SCALES[figure] * Math.min(1, load * (1 + wave + ripple));
  }
  return figures;
}

function createColumn(): Float32Array {
  return new Float32Array(HISTORY_SLOTS).fill(Number.NaN);
}

function createColumns(): Record<Figure, Float32Array> {
  return {
    cpu_usage_ratio: createColumn(),
    load_1m: createColumn(),
    memory_usage_ratio: createColumn(),
    disk_read_bytes_per_second: createColumn(),
    disk_write_bytes_per_second: createColumn(),
    receive_bytes_per_second: createColumn(),
    transmit_bytes_per_second: createColumn(),
  };
}

function advance(machine: FakeMachine, at: number, nowMs: number): void {
  const isLive = machine.state.kind === 'live';
  const figures = figuresAt(at, nowMs);
  for (const figure of FIGURES) {
    const column = machine.history.columns[figure];
    column.copyWithin(0, 1);
    column[HISTORY_SLOTS - 1] = isLive ? figures[figure] : Number.NaN;
  }
  machine.history = { ...machine.history, end: machine.history.end + 1 };
  if (!isLive) return;
  Object.assign(machine.latest, figures);
  machine.latestAt = nowMs;
}
