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
  readonly #tokens: Map<string, string>;
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
  #cancelTick = (): void => undefined;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#tokens = new Map(options.tokens);
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
    if (token === null) this.#tokens.delete(id);
    else this.#tokens.set(id, token);
    this.#connections.get(id)?.setToken(token, !this.isPaused);
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
    const token = this.#tokens.get(listed.id) ?? null;
    return new MachineConnection(machine, token, { options: this.#options, slots: this });
  }

  #drop(connection: MachineConnection): void {
    this.#gaps.delete(connection.machine);
    connection.stop();
  }

  #tick(): void {
    const nowMs = this.#options.now();
    if (nowMs - this.#tickedAtMs > FROZEN_MS) this.#graceUntilMs = nowMs + GRACE_MS;
    const seconds = this.#followClock(nowMs);
    this.#tickedAtMs = nowMs;
    if (nowMs >= this.#graceUntilMs) {
      for (const connection of this.#connections.values()) connection.checkSilence(nowMs);
    }
    this.#runTurns(nowMs);
    if (this.#isChanged) this.#notify('machines');
    if (seconds !== 0) this.#notify('figures');
    this.#cancelTick = this.#options.schedule(() => this.#tick(), TICK_MS);
  }

  /**
   * Advances the common clock. A page's clock that was set back by a second or less is followed by the alignment of the points.
   * @returns the seconds, negative when it was set back by more
   */
  #followClock(nowMs: number): number {
    const difference = toSecond(nowMs) - this.#clock.end;
    const seconds = difference === -1 ? 0 : difference;
    const setBackMs = nowMs - this.#tickedAtMs;
    this.#clock.end += seconds;
    for (const connection of this.#connections.values()) {
      if (seconds > 0) connection.machine.history.advance(seconds);
      else if (seconds < 0) connection.machine.history.relabel(seconds);
      if (setBackMs < 0) connection.shiftClock(setBackMs);
    }
    return seconds;
  }

  #runTurns(nowMs: number): void {
    if (this.isPaused) return;
    const { start, stop } = this.#turns.step(nowMs);
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
