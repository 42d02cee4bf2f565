import type { AgentHost, AgentNotice } from '@latchkey/contract';

import { detectRestart, type StartFacts } from './detect-restart.ts';
import { compareNotices } from './event-log.ts';
import { type CommonClock, MachineHistory, readFigure } from './machine-history.ts';
import {
  type BriefHello,
  isFields,
  readBriefHello,
  readBriefNotices,
  readTimeMs,
} from './read-brief-message.ts';
import {
  type Figure,
  FIGURES,
  type FleetEvent,
  type ListedMachine,
  type Machine,
  type MachineState,
} from './types.ts';

/** An agent sends at most so many points at once. */
const MAX_POINTS = 10;

/** What the fleet learns of changes. */
export interface MachineListener {
  onState(machine: WatchedMachine, before: MachineState): void;
  onEvent(machine: WatchedMachine, what: FleetEvent['what'], at: number): void;
  /** Facts or notices changed. */
  onFacts(): void;
}

/** The facts, figures and notices of a machine. */
export class WatchedMachine implements Machine {
  listed: ListedMachine;
  host: AgentHost | null = null;
  agentVersion: string | null = null;
  machineId: string | null = null;
  notices: readonly AgentNotice[] | null = null;
  noticesOmitted = 0;
  latestAt: number | null = null;
  rebootedAt: number | null = null;
  agentRestartedAt: number | null = null;
  intervalSeconds = 1;
  readonly history: MachineHistory;
  readonly latest: Record<Figure, number> = {
    cpu_usage_ratio: Number.NaN,
    load_1m: Number.NaN,
    memory_usage_ratio: Number.NaN,
    disk_read_bytes_per_second: Number.NaN,
    disk_write_bytes_per_second: Number.NaN,
    receive_bytes_per_second: Number.NaN,
    transmit_bytes_per_second: Number.NaN,
  };
  #state: MachineState = { kind: 'waiting', for: 'first_answer' };
  #start: StartFacts | null = null;
  readonly #listener: MachineListener;

  constructor(listed: ListedMachine, clock: CommonClock, listener: MachineListener) {
    this.listed = listed;
    this.history = new MachineHistory(clock);
    this.#listener = listener;
  }

  get state(): MachineState {
    return this.#state;
  }

  setState(state: MachineState): void {
    const before = this.#state;
    this.#state = state;
    this.#listener.onState(this, before);
  }

  /** Takes a hello. @returns false when it is invalid */
  acceptHello(message: Readonly<Record<string, unknown>>, nowMs: number): boolean {
    const hello = readBriefHello(message);
    if (hello === null) return false;
    if (hello.machineId !== this.machineId) this.#forgetOther(hello.machineId);
    this.host = hello.host;
    this.agentVersion = hello.agentVersion;
    this.intervalSeconds = hello.intervalSeconds;
    this.#noteStart(hello, nowMs);
    this.history.merge(hello.times, hello.columns, {
      arrivedMs: nowMs,
      intervalSeconds: hello.intervalSeconds,
    });
    if (hello.times.length > 0) this.#noteNewest(hello.columns, hello.times.length - 1, nowMs);
    this.#updateNotices(message, nowMs);
    this.#listener.onFacts();
    return true;
  }

  /** Takes points. @returns their number; 0 when the message has none */
  acceptPoints(message: Readonly<Record<string, unknown>>, nowMs: number): number {
    const points: unknown = message['points'];
    if (!Array.isArray(points)) return 0;
    const newest: unknown = points.at(-1);
    const newestMs = isFields(newest) ? readTimeMs(newest['time']) : Number.NaN;
    if (Number.isNaN(newestMs)) return 0;
    this.history.align(newestMs, nowMs);
    const first = Math.max(0, points.length - MAX_POINTS);
    for (let at = first; at < points.length; at += 1) this.#write(points[at]);
    this.latestAt = nowMs;
    if ('notices' in message) this.#updateNotices(message, nowMs);
    return points.length - first;
  }

  #write(point: unknown): void {
    if (!isFields(point)) return;
    const timeMs = readTimeMs(point['time']);
    if (Number.isNaN(timeMs)) return;
    this.history.write(timeMs, point, this.intervalSeconds);
    for (let at = 0; at < FIGURES.length; at += 1) {
      const figure = FIGURES[at];
      if (figure !== undefined) this.latest[figure] = readFigure(point[figure]);
    }
  }

  #noteNewest(columns: BriefHello['columns'], at: number, nowMs: number): void {
    for (const figure of FIGURES) {
      const column = columns[figure];
      this.latest[figure] = readFigure(Array.isArray(column) ? column[at] : undefined);
    }
    this.latestAt = nowMs;
  }

  #updateNotices(message: Readonly<Record<string, unknown>>, nowMs: number): void {
    const read = readBriefNotices(message);
    if (read === null) return;
    // The first list is what was already there when the page was opened.
    const changes = this.notices === null ? [] : compareNotices(this.notices, read.notices);
    this.notices = read.notices;
    this.noticesOmitted = read.omitted;
    for (const what of changes) this.#listener.onEvent(this, what, nowMs);
    this.#listener.onFacts();
  }

  #noteStart({ host, agentStartedAtMs, times }: BriefHello, nowMs: number): void {
    const newestMs = times.findLast((each) => !Number.isNaN(each));
    // An agent without a history has just started; its clock is as far off as before.
    const aheadMs = newestMs === undefined ? (this.#start?.aheadMs ?? 0) : nowMs - newestMs;
    const start = { bootMs: readTimeMs(host.boot_time), agentStartedAtMs, aheadMs };
    const restart = this.#start === null ? null : detectRestart(this.#start, start);
    this.#start = start;
    if (restart === null) return;
    const startedMs = restart === 'rebooted' ? start.bootMs : agentStartedAtMs;
    const at = Math.min(nowMs, startedMs + aheadMs);
    if (restart === 'rebooted') this.rebootedAt = at;
    else this.agentRestartedAt = at;
    this.#listener.onEvent(this, { kind: restart }, nowMs);
  }

  /** Forgets another machine that had this address before. */
  #forgetOther(machineId: string | null): void {
    if (this.machineId !== null && machineId !== null) {
      this.history.clear();
      this.notices = null;
      this.noticesOmitted = 0;
      this.rebootedAt = null;
      this.agentRestartedAt = null;
      this.#start = null;
    }
    this.machineId = machineId;
  }
}
