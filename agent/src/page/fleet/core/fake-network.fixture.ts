import { setImmediate } from 'node:timers/promises';

import type { FleetOptions, FleetSocket, ListedMachine } from './types.ts';

/** An event of a WebSocket with the fields of its kind. */
interface SocketEvent {
  readonly data: unknown;
  readonly code: number;
  readonly reason: string;
}

type SocketListener = (event: SocketEvent) => void;

/** A WebSocket whose other end a test plays. */
export class FakeSocket implements FleetSocket {
  readonly url: string;
  readonly protocols: readonly string[];
  isOpen = true;
  /** Whether `close` takes until `finish`, as with a machine that hangs. */
  isHanging = false;
  readonly #listeners: { readonly type: string; readonly listener: SocketListener }[] = [];

  constructor(url: string, protocols: readonly string[]) {
    this.url = url;
    this.protocols = protocols;
  }

  addEventListener(type: string, listener: SocketListener): void {
    this.#listeners.push({ type, listener });
  }

  close(): void {
    if (!this.isHanging) queueMicrotask(() => this.finish(1005));
  }

  send(message: unknown): void {
    this.sendText(JSON.stringify(message));
  }

  sendText(data: string): void {
    this.#emit('message', { data, code: 0, reason: '' });
  }

  /** Ends the connection: 1006 without a word. */
  finish(code = 1006, reason = ''): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#emit('close', { data: null, code, reason });
  }

  #emit(type: string, event: SocketEvent): void {
    for (const each of this.#listeners) if (each.type === type) each.listener(event);
  }
}

type Fetch = FleetOptions['fetch'];

/** The browser's side of a fleet: a clock, timers, sockets and answers. */
export class FakeNetwork {
  nowMs = Date.parse('2026-11-21T12:00:00Z');
  /** How far the page's clock was set forward since; timers do not follow. */
  leapMs = 0;
  readonly sockets: FakeSocket[] = [];
  readonly requests: { readonly url: string; readonly init: Parameters<Fetch>[1] }[] = [];
  /** Answers requests; by default nothing is reached. */
  answer: (mode: string) => Promise<{ status: number; text: () => Promise<string> }> = async () => {
    throw new TypeError('fetch failed');
  };
  /** Called with each new socket. */
  onSocket: (socket: FakeSocket) => void = () => undefined;
  readonly #timers = new Map<object, { readonly atMs: number; readonly run: () => void }>();

  /** The options of a fleet on this network. */
  createOptions(list: readonly ListedMachine[], rest: Partial<FleetOptions> = {}): FleetOptions {
    return {
      list,
      readToken: () => null,
      WebSocket: this.#createSocketClass(),
      fetch: async (url, init) => {
        this.requests.push({ url, init });
        return this.answer(init.mode);
      },
      now: () => this.nowMs + this.leapMs,
      schedule: (run, delayMs) => {
        const timer = {};
        this.#timers.set(timer, { atMs: this.nowMs + delayMs, run });
        return () => void this.#timers.delete(timer);
      },
      random: () => 0.5,
      ...rest,
    };
  }

  get timers(): number {
    return this.#timers.size;
  }

  /** The sockets to an address that are open. */
  openTo(address: string): FakeSocket[] {
    return this.sockets.filter(({ url, isOpen }) => isOpen && url === `wss://${address}/`);
  }

  get openSockets(): FakeSocket[] {
    return this.sockets.filter(({ isOpen }) => isOpen);
  }

  /** Runs the timers of a period, in order, and what follows from each. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms;
    await setImmediate();
    for (;;) {
      const due = [...this.#timers].filter(([, { atMs }]) => atMs <= untilMs);
      const [next] = due.toSorted(([, one], [, other]) => one.atMs - other.atMs);
      if (next === undefined) break;
      const [timer, { atMs, run }] = next;
      this.#timers.delete(timer);
      this.nowMs = Math.max(this.nowMs, atMs);
      run();
      await setImmediate();
    }
    this.nowMs = untilMs;
  }

  #createSocketClass(): FleetOptions['WebSocket'] {
    const add = (socket: FakeSocket): void => {
      this.sockets.push(socket);
      this.onSocket(socket);
    };
    return class extends FakeSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols);
        add(this);
      }
    };
  }
}

/** Lists machines `m0`, `m1`, … */
export function listMachines(count: number): ListedMachine[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `m${at}`,
    name: `m${at}`,
    address: `m${at}.example.com:4096`,
    labels: [],
  }));
}

const STARTED_MS = Date.parse('2026-11-21T00:00:00Z');

/** An agent's messages. Its clock may be ahead of the page's. */
export class FakeAgent {
  /** On its own clock, as the time at which it started. */
  readonly bootMs = STARTED_MS - 86_400_000;
  readonly startedMs = STARTED_MS;
  aheadMs = 0;

  constructor(facts: { bootMs?: number; startedMs?: number; aheadMs?: number } = {}) {
    Object.assign(this, facts);
  }

  /** @param times of the page's clock in epoch milliseconds, with their load */
  hello(times: readonly (readonly [ms: number, load: number])[], rest: object = {}): object {
    return {
      type: 'hello',
      schema_version: 1,
      agent_version: '1.0.0',
      agent_started_at: new Date(this.startedMs).toISOString(),
      interval_seconds: 1,
      machine_id: '0123456789abcdef0123456789abcdef',
      host: {
        hostname: 'db-1',
        architecture: 'x64',
        machine_type: 'virtual',
        boot_time: new Date(this.bootMs).toISOString(),
      },
      history: {
        time: times.map(([ms]) => this.#time(ms)),
        load_1m: times.map(([, load]) => load),
      },
      ...rest,
    };
  }

  points(times: readonly (readonly [ms: number, load: number])[], rest: object = {}): object {
    const points = times.map(([ms, load]) => ({ time: this.#time(ms), load_1m: load }));
    return { type: 'points', points, ...rest };
  }

  #time(ms: number): string {
    return new Date(ms + this.aheadMs).toISOString();
  }
}
