/** The seam between the fleet's core, which holds connections and figures, and its view. No DOM here. */
import type { AgentHost, AgentNotice } from '@latchkey/contract';

/** A machine that the user watches. */
export interface ListedMachine {
  /** Unique in the list; the service's id, or the address. */
  readonly id: string;
  readonly name: string;
  /** `host`, `host:port` or `[IPv6]:port`, behind a proxy with its path; the default port is 4096, with a path 443. */
  readonly address: string;
  readonly labels: readonly string[];
}

/** Why no figures arrive. */
export type GapReason =
  /** The agent needs a token, or does not know the one sent. */
  | 'token'
  /** The agent or its proxy needs a client certificate. */
  | 'certificate_required'
  /** The agent does not allow this page's origin, or a proxy hides the answer. */
  | 'origin'
  /** A proxy does not forward WebSockets. */
  | 'no_upgrade'
  /** Nothing answers, or the browser does not trust the certificate, which a page cannot tell apart. */
  | 'unreachable'
  /** The browser may not connect to private addresses from this page. */
  | 'private_address'
  /** Messages stopped, or never began, on an open connection. */
  | 'no_answer'
  /** The agent was stopped. */
  | 'stopped'
  /** The agent closed the connection; `detail` is its sentence. */
  | 'refused';

/** Why a machine is not connected, though nothing is wrong. */
export type WaitReason = 'first_answer' | 'turn' | 'paused';

/** Whether figures of a machine arrive. Replaced, never changed, so that a view can compare by identity. */
export type MachineState =
  | { readonly kind: 'live' }
  | { readonly kind: 'waiting'; readonly for: WaitReason }
  | Gap;

/** The time in which no figures arrive. */
export interface Gap {
  readonly kind: 'gap';
  readonly reason: GapReason;
  /** When the last message arrived, or else the first attempt began; epoch milliseconds of this browser. */
  readonly since: number;
  /** A sentence of the agent. */
  readonly detail?: string;
}

/** The figures of a point, in the order of the columns. */
export const FIGURES = [
  'cpu_usage_ratio',
  'load_1m',
  'memory_usage_ratio',
  'disk_read_bytes_per_second',
  'disk_write_bytes_per_second',
  'receive_bytes_per_second',
  'transmit_bytes_per_second',
] as const;
export type Figure = (typeof FIGURES)[number];

/** The seconds of a history: five minutes. */
export const HISTORY_SLOTS = 300;

/**
 * The last five minutes of a machine on the clock of all machines: index 0 is the oldest second, the last index the second that ends
 * at `end`. NaN marks a gap. The arrays stay the same and change at each `figures` event.
 */
export interface History {
  /** The end of the newest slot in epoch seconds, equal for all machines. */
  readonly end: number;
  readonly columns: Readonly<Record<Figure, Float32Array>>;
}

/** A machine and what is known of it. The object stays the same while its id is listed; its fields change. */
export interface Machine {
  readonly listed: ListedMachine;
  readonly state: MachineState;
  /** Null before the first answer. */
  readonly host: AgentHost | null;
  readonly agentVersion: string | null;
  /** Identifies the installed system; null when unknown. */
  readonly machineId: string | null;
  /** Present problems, errors first; null: not known yet. The last known ones during a gap. */
  readonly notices: readonly AgentNotice[] | null;
  /** Number of problems that the agent left out of `notices`. */
  readonly noticesOmitted: number;
  readonly history: History;
  /** The figures of the newest point; NaN when absent. The same object, changed with each point. */
  readonly latest: Readonly<Record<Figure, number>>;
  /** When the newest point arrived, in epoch milliseconds; null before the first. */
  readonly latestAt: number | null;
  /** When the machine started, if it was restarted since the page was opened; epoch milliseconds, else null. */
  readonly rebootedAt: number | null;
  /** When the agent started, if it was restarted without its machine since the page was opened. */
  readonly agentRestartedAt: number | null;
}

/** What happened since the page was opened. The reason of a gap may be corrected in the same object. */
export interface FleetEvent {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly machine: ListedMachine;
  readonly what:
    | Gap
    | { readonly kind: 'back' | 'rebooted' | 'agent_restarted' }
    | { readonly kind: 'notice' | 'notice_over'; readonly notice: AgentNotice };
}

/**
 * What a listener has to draw again. `figures`: once a second, for all machines. `machines`: a state, notices, facts or the list
 * changed; several changes of an instant are one event.
 */
export type FleetChange = 'figures' | 'machines';

/** All machines of a page. */
export interface Fleet {
  /** In the order of the list. The array is replaced when the list changes. */
  readonly machines: readonly Machine[];
  /** The newest changes since the page was opened, oldest first; at most 200. */
  readonly events: readonly FleetEvent[];
  readonly isPaused: boolean;
  /** Replaces the list; a machine that keeps id and address keeps its connection and history. */
  setList(list: readonly ListedMachine[]): void;
  /** Sets or removes the token of a machine's address, and connects again. */
  setToken(id: string, token: string | null): void;
  /** Connects now: without the rest of a back-off, and instead of a connection that is silent. */
  retry(id: string): void;
  /** Closes all connections, as for a hidden page. */
  pause(): void;
  resume(): void;
  /** @returns a function that removes the listener */
  subscribe(listener: (change: FleetChange) => void): () => void;
  /** Closes all connections for good. */
  close(): void;
}

/** A WebSocket of a browser, as far as the core uses it. */
export interface FleetSocket {
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(
    type: 'close',
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void;
  close(): void;
}

/** Whether a page may connect to private addresses; null: the browser does not ask. */
export type PrivateAccess = 'granted' | 'denied' | 'prompt' | null;

/** What the core needs of the outside, and its settings. */
export interface FleetOptions {
  readonly list: readonly ListedMachine[];
  /**
   * Returns the access token that this browser keeps for the address of a machine. Called when the address enters the list, unless a
   * token was entered for it since.
   */
  readonly readToken: (machine: ListedMachine) => string | null;
  readonly WebSocket: new (url: string, protocols: string[]) => FleetSocket;
  readonly fetch: (
    url: string,
    init: {
      readonly mode: 'cors' | 'no-cors';
      readonly credentials: 'include';
      readonly cache: 'no-store';
      readonly redirect: 'error' | 'follow';
      readonly headers: Record<string, string>;
      readonly signal: AbortSignal;
    },
  ) => Promise<{ readonly status: number; text(): Promise<string> }>;
  /**
   * Whether this page may connect to an address if that is private, as `queryPrivateAccess` reports it; null where the browser has no
   * such permission.
   */
  readonly queryPrivateAccess?: (address: string) => Promise<PrivateAccess>;
  /** The time in epoch milliseconds. */
  readonly now: () => number;
  /** Runs a function after a delay in milliseconds. @returns a function that cancels it */
  readonly schedule: (run: () => void, delayMs: number) => () => void;
  /** From 0 up to 1, for the jitter of retries. */
  readonly random: () => number;
  /** The most connections open at once; default: 150, since Firefox allows 200 for all pages. */
  readonly maxOpen?: number;
}
