import { randomBytes } from 'node:crypto';

import type { Clock } from '#agent/clock.ts';
import type { Log } from '#agent/log.ts';
import { openAccessTokens } from '#agent/stream/admission.ts';
import { Hub } from '#agent/stream/hub.ts';
import { AddressReports } from '#agent/stream/limits.ts';
import { StreamServer } from '#agent/stream/server.ts';
import type { TlsMaterial } from '#agent/tls/tls-files.ts';

import { InventedMachine } from './invented-machine.ts';
import type { AgentPlan } from './plan.ts';

/** The history of an agent that has run for long. */
const HISTORY_SECONDS = 300;

/** As in the agent's `run.ts`. */
const PING_INTERVAL_MS = 25_000;

const MAX_CONNECTIONS = 2000;

/** Refusals are expected, and seen on the page. */
const SILENT_LOG: Log = { warn: () => undefined };

/** The time of an agent; behind the present while its history is invented. */
class ShiftedClock implements Clock {
  shiftMs = 0;
  readonly now = (): Date => new Date(Date.now() + this.shiftMs);
  readonly monotonicMs = (): number => performance.now() + this.shiftMs;
}

interface Options {
  readonly plan: AgentPlan;
  readonly tls: TlsMaterial;
  /** The origins whose pages may watch. */
  readonly allowedOrigins: ReadonlySet<string>;
  /** The time from a whole second to its ticks. */
  readonly phaseMs: number;
}

/** The agent's own stream server with an invented machine behind it. */
export class SimulatedAgent {
  readonly #options: Options;
  #tokens: readonly string[];
  #bootTimeMs = Date.parse('2026-11-02T08:00:00Z');
  #running: AsyncDisposableStack | null = null;
  #server: StreamServer | null = null;
  #hub: Hub | null = null;

  constructor(options: Options) {
    this.#options = options;
    const { token } = options.plan;
    this.#tokens = token === null ? [] : [token];
  }

  /** Opens the port, unless it is open. @param historySeconds what the agent remembers */
  async start(historySeconds = HISTORY_SECONDS): Promise<void> {
    if (this.#running !== null) return;
    const { plan, phaseMs } = this.#options;
    const clock = new ShiftedClock();
    const hub = this.#openHub(clock, historySeconds);
    const server = this.#openServer(hub, clock);
    const running = new AsyncDisposableStack();
    this.#running = running;
    this.#server = server;
    this.#hub = hub;
    await server.listen(plan.host, plan.port);
    running.defer(() => server.close());
    const first = setTimeout(
      () => {
        hub.tick();
        const ticks = setInterval(() => hub.tick(), 1000);
        running.defer(() => clearInterval(ticks));
      },
      (1000 + phaseMs - (Date.now() % 1000)) % 1000,
    );
    const pings = setInterval(() => hub.ping(randomBytes(8)), PING_INTERVAL_MS);
    running.defer(() => {
      clearTimeout(first);
      clearInterval(pings);
    });
  }

  /** The number of connected viewers. */
  get viewers(): number {
    return this.#hub?.viewers.size ?? 0;
  }

  /** Stops the agent as systemd does. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.disposeAsync();
  }

  /** Restarts the agent, which forgets its history. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start(0);
  }

  /** Restarts the machine. */
  async reboot(): Promise<void> {
    await this.stop();
    this.#bootTimeMs = Date.now();
    await this.start(0);
  }

  /** Replaces the access token by one that nobody has. */
  forgetToken(): void {
    this.#tokens = [randomBytes(16).toString('hex')];
    this.#server?.setTls(this.#options.tls);
  }

  #openHub(clock: ShiftedClock, historySeconds: number): Hub {
    const { plan } = this.#options;
    clock.shiftMs = -1000 * historySeconds;
    const machine = new InventedMachine(plan, clock, this.#bootTimeMs);
    const hub = new Hub({
      sampler: machine,
      readHost: machine.readHost,
      clock,
      intervalSeconds: 1,
      machineId: plan.seed.toString(16).padStart(32, '0'),
    });
    while (clock.shiftMs < 0) {
      clock.shiftMs += 1000;
      hub.tick();
    }
    return hub;
  }

  #openServer(hub: Hub, clock: Clock): StreamServer {
    const { tls, allowedOrigins } = this.#options;
    return new StreamServer({
      hub,
      clock,
      tls,
      reports: new AddressReports(clock, SILENT_LOG),
      readRules: () => ({ isToken: openAccessTokens(this.#tokens), allowedOrigins }),
      refusesInHandshake: false,
      maxConnections: MAX_CONNECTIONS,
      maxConnectionsPerAddress: MAX_CONNECTIONS,
      isBehindProxy: false,
    });
  }
}
