import { EventLog, describeStateChange, type KeptEvent } from './event-log.ts';
import { type ConnectionSlots, MachineConnection } from './machine-connection.ts';
import { Turns } from './turns.ts';
import type {
  Fleet,
  FleetChange,
  FleetEvent,
  FleetOptions,
  ListedMachine,
  Machine,
  MachineState,
} from './types.ts';
import { type MachineListener, WatchedMachine } from './watched-machine.ts';

/** With the 2.5 s of silence, a gap is reported within 3 s. */
const TICK_MS = 250;

/** Firefox allows 200 WebSockets for all pages together. */
const MAX_OPEN = 150;

/** Points have this long after the end of their second before it is drawn. */
const SETTLE_MS = 500;

/** A tick that is so late means that the page was frozen: messages may be unread, so silence proves nothing yet. */
const FROZEN_MS = 1500;
const GRACE_MS = 2500;

/** Connects to the machines of a list, and keeps their figures and states. */
export function createFleet(options: FleetOptions): Fleet {
  return new LiveFleet(options);
}

class LiveFleet implements Fleet, MachineListener, ConnectionSlots {
  machines: readonly Machine[] = [];
  isPaused = false;
  readonly #options: FleetOptions;
  /** Tokens that were entered or removed since, by address, so that no other agent ever gets one. */
  readonly #tokens = new Map<string, string | null>();
  readonly #clock: { end: number };
  readonly #turns: Turns<MachineConnection>;
  readonly #log = new EventLog();
  /** By id, in the order of the list. */
  #connections: ReadonlyMap<string, MachineConnection> = new Map();
  /** The events of present gaps, whose reason may still become known. */
  readonly #gaps = new Map<Machine, KeptEvent>();
  readonly #listeners = new Set<(change: FleetChange) => void>();
  #isChanged = false;
  #tickedAtMs: number;
  #graceUntilMs = 0;
  /** By how much this page's clock was set back so far; negative. */
  #setBackMs = 0;
  #cancelTick = (): void => undefined;

  constructor(options: FleetOptions) {
    this.#options = { ...options, now: () => this.#readClock(options.now()) };
    this.#turns = new Turns(options.maxOpen ?? MAX_OPEN);
    this.#tickedAtMs = options.now();
    this.#clock = { end: toSecond(this.#tickedAtMs) };
    this.setList(options.list);
    this.#tick();
  }

  get events(): readonly FleetEvent[] {
    return this.#log.events;
  }

  setList(list: readonly ListedMachine[]): void {
    const before = this.#connections;
    const connections = new Map<string, MachineConnection>();
    for (const listed of list) {
      if (connections.has(listed.id)) continue;
      const known = before.get(listed.id);
      const isKept = known?.machine.listed.address === listed.address;
      connections.set(listed.id, isKept ? known : this.#createConnection(listed));
      if (isKept) known.machine.listed = listed;
    }
    this.#connections = connections;
    this.machines = Array.from(connections.values(), ({ machine }) => machine);
    for (const [id, connection] of before) {
      if (connections.get(id) !== connection) this.#drop(connection);
    }
    for (const [id, connection] of connections) {
      if (before.get(id) !== connection && !this.isPaused) connection.connect();
    }
    this.#notify('machines');
  }

  setToken(id: string, token: string | null): void {
    const connection = this.#connections.get(id);
    if (connection === undefined) return;
    this.#tokens.set(connection.machine.listed.address, token);
    connection.setToken(token, !this.isPaused);
    this.#runTurns(this.#options.now());
  }

  retry(id: string): void {
    this.#connections.get(id)?.retry();
    this.#runTurns(this.#options.now());
  }

  pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.#cancelTick();
    for (const connection of this.#connections.values()) connection.pause();
    this.#notify('machines');
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    for (const connection of this.#connections.values()) connection.connect();
    this.#tickedAtMs = this.#options.now();
    this.#tick();
    this.#notify('machines');
  }

  subscribe(listener: (change: FleetChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.isPaused = true;
    this.#cancelTick();
    this.#listeners.clear();
    for (const connection of this.#connections.values()) connection.stop();
  }

  request(connection: MachineConnection, isFirst: boolean): void {
    this.#turns.request(connection, isFirst);
  }

  opened(connection: MachineConnection): void {
    this.#turns.opened(connection);
    this.#runTurns(this.#options.now());
  }

  release(connection: MachineConnection): void {
    this.#turns.release(connection);
  }

  onFacts(): void {
    this.#isChanged = true;
  }

  onEvent({ listed }: Machine, what: FleetEvent['what'], at: number): void {
    this.#log.add({ at, machine: listed, what });
    this.#isChanged = true;
  }

  onState(machine: WatchedMachine, before: MachineState): void {
    this.#isChanged = true;
    const gap = this.#gaps.get(machine);
    const what = describeStateChange(before, machine.state);
    if (machine.state.kind !== 'gap') this.#gaps.delete(machine);
    // A machine that has never answered is shown with its reason, but that is no change.
    if (what === null || (what.kind === 'gap' && machine.host === null)) return;
    if (gap !== undefined && what.kind === 'gap') {
      this.#log.correct(gap, what);
      return;
    }
    const event = this.#log.add({ at: this.#options.now(), machine: machine.listed, what });
    if (what.kind === 'gap') this.#gaps.set(machine, event);
  }

  #createConnection(listed: ListedMachine): MachineConnection {
    const machine = new WatchedMachine(listed, this.#clock, this);
    const entered = this.#tokens.get(listed.address);
    const token = entered === undefined ? this.#options.readToken(listed) : entered;
    return new MachineConnection(machine, token, { options: this.#options, slots: this });
  }

  #drop(connection: MachineConnection): void {
    this.#gaps.delete(connection.machine);
    connection.stop();
  }

  #tick(): void {
    const nowMs = this.#options.now();
    if (nowMs - this.#tickedAtMs > FROZEN_MS) this.#graceUntilMs = nowMs + GRACE_MS;
    const seconds = this.#advanceClock(nowMs);
    this.#tickedAtMs = nowMs;
    if (nowMs >= this.#graceUntilMs) {
      for (const connection of this.#connections.values()) connection.checkSilence(nowMs);
    }
    this.#runTurns(nowMs);
    if (this.#isChanged) this.#notify('machines');
    if (seconds !== 0) this.#notify('figures');
    this.#cancelTick = this.#options.schedule(() => this.#tick(), TICK_MS);
  }

  /** Follows a clock that was set back, before anything is compared with it. */
  #readClock(nowMs: number): number {
    const setBackMs = nowMs - this.#tickedAtMs;
    if (setBackMs > -1000) return nowMs;
    this.#tickedAtMs = nowMs;
    this.#setBackMs += setBackMs;
    this.#graceUntilMs += setBackMs;
    const seconds = toSecond(nowMs) - this.#clock.end;
    this.#clock.end += seconds;
    for (const connection of this.#connections.values()) {
      connection.machine.history.relabel(seconds);
      connection.shiftClock(setBackMs);
    }
    return nowMs;
  }

  /** Advances the common clock. @returns the seconds; none after a small step back, which the alignment of points follows */
  #advanceClock(nowMs: number): number {
    const seconds = Math.max(0, toSecond(nowMs) - this.#clock.end);
    this.#clock.end += seconds;
    if (seconds === 0) return 0;
    for (const { machine } of this.#connections.values()) machine.history.advance(seconds);
    return seconds;
  }

  #runTurns(nowMs: number): void {
    if (this.isPaused) return;
    const { start, stop } = this.#turns.step(nowMs - this.#setBackMs);
    for (const connection of start) connection.open();
    for (const connection of stop) connection.endTurn();
    for (const connection of this.#turns.waiting) connection.waitForTurn();
  }

  #notify(change: FleetChange): void {
    if (change === 'machines') this.#isChanged = false;
    for (const listener of this.#listeners) listener(change);
  }
}

/** Returns the newest second that is complete, in epoch seconds. */
function toSecond(nowMs: number): number {
  return Math.floor((nowMs - SETTLE_MS) / 1000);
}
