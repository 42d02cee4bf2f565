import type { AgentHello, AgentSnapshotMessage } from '@latchkey/contract';

/** The state of the connection. */
export type ConnectionState =
  | { readonly name: 'connecting' }
  | { readonly name: 'live' }
  /** @property reason the agent's reason, or null; after `refused`, a retry may not help */
  | {
      readonly name: 'waiting' | 'refused';
      readonly untilMs: number;
      readonly reason: string | null;
    }
  | { readonly name: 'token'; readonly reason: string };

interface ConnectionOptions {
  /** The URL of the page, which is also that of the stream. */
  readonly pageUrl: string;
  readonly readToken: () => string | null;
  readonly onState: (state: ConnectionState) => void;
  readonly onMessage: (message: AgentMessage) => void;
}

/** A connection of this length resets the backoff. */
const STABLE_MS = 10_000;

/** The connection is considered dead after this silence. */
const SILENT_INTERVALS = 4;
const SILENT_MS = 10_000;

/** Keeps a connection to the agent, and reconnects. */
export class Connection {
  readonly #options: ConnectionOptions;
  #socket: WebSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #attempt = 0;
  #silentMs = SILENT_MS;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Connects now, unless connected. */
  open(): void {
    if (this.#socket !== null) return;
    clearTimeout(this.#timer);
    this.#options.onState({ name: 'connecting' });
    const openedAtMs = performance.now();
    const socket = new WebSocket(toStreamUrl(this.#options.pageUrl), this.#offer());
    let hasSpoken = false;
    this.#socket = socket;
    this.#listenForSilence();
    socket.addEventListener('message', ({ data }) => {
      hasSpoken = true;
      this.#receive(String(data));
    });
    socket.addEventListener('close', ({ reason }) => {
      if (this.#socket !== socket) return;
      this.#socket = null;
      clearTimeout(this.#silence);
      if (performance.now() - openedAtMs > STABLE_MS) this.#attempt = 0;
      if (hasSpoken) this.#wait(reason === '' ? null : reason);
      else void this.#requestReason();
    });
  }

  #offer(): string[] {
    const token = this.#options.readToken();
    return ['latchkey.snapshot.v1', ...(token === null ? [] : [`latchkey.token.${token}`])];
  }

  #receive(text: string): void {
    this.#listenForSilence();
    const message = readMessage(text);
    if (message === null) return;
    if (message.type === 'hello') {
      this.#silentMs = Math.max(SILENT_MS, message.interval_seconds * 1000 * SILENT_INTERVALS);
      this.#options.onState({ name: 'live' });
    }
    this.#options.onMessage(message);
  }

  #listenForSilence(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      const socket = this.#socket;
      this.#socket = null;
      socket?.close();
      this.#wait(null);
    }, this.#silentMs);
  }

  /** Requests the reason of a refusal, which browsers do not expose. */
  async #requestReason(): Promise<void> {
    const token = this.#options.readToken();
    const headers = token === null ? undefined : { Authorization: `Bearer ${token}` };
    const init = { cache: 'no-store', ...(headers === undefined ? {} : { headers }) } as const;
    try {
      const answer = await fetch(toAdmissionUrl(this.#options.pageUrl), init);
      const text = (await answer.text()).trim();
      // Another call has reconnected already.
      if (this.#socket !== null) return;
      if (answer.status === 401) this.#options.onState({ name: 'token', reason: text });
      else if (answer.status === 403) this.#wait(text, 'refused');
      else if (answer.ok) this.#wait(BLOCKED, 'refused');
      else this.#wait(null);
    } catch {
      // The agent is unreachable; retry later.
      this.#wait(null);
    }
  }

  #wait(reason: string | null, name: 'waiting' | 'refused' = 'waiting'): void {
    const delayMs = decideDelayMs(this.#attempt, Math.random());
    this.#attempt += 1;
    this.#options.onState({ name, untilMs: Date.now() + delayMs, reason });
    this.#timer = setTimeout(() => this.open(), delayMs);
  }
}

const BLOCKED = 'The WebSocket was blocked: a proxy must forward Upgrade and Host.';

type AgentMessage = AgentHello | AgentSnapshotMessage;

/**
 * Parses a message. The agent that served this page sent it, so its shape is trusted.
 * @returns null for unknown messages of a later agent
 */
export function readMessage(text: string): AgentMessage | null {
  const value: unknown = JSON.parse(text);
  return isMessage(value) ? value : null;
}

function isMessage(value: unknown): value is AgentMessage {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  if (value.type === 'snapshot') return 'snapshot' in value;
  return value.type === 'hello' && 'schema_version' in value && value.schema_version === 1;
}

const FIRST_MS = 1000;
const LONGEST_MS = 30_000;

/**
 * Returns the delay before the next attempt: exponential backoff with jitter, so that a thousand pages do not reconnect at once.
 * @param attempt 0 for the first attempt after a connection was lost
 * @param random from 0 up to 1
 */
export function decideDelayMs(attempt: number, random: number): number {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 10));
  return Math.round(longest * (0.5 + random / 2));
}

/** Returns the URL of the stream: that of the page, with any path of a proxy. */
export function toStreamUrl(pageUrl: string): string {
  const { protocol, host, pathname } = new URL(pageUrl);
  return `${protocol === 'http:' ? 'ws:' : 'wss:'}//${host}${pathname}`;
}

/** Returns the URL at which the agent reports whether the page may watch. */
export function toAdmissionUrl(pageUrl: string): string {
  const { origin, pathname } = new URL(pageUrl);
  return `${origin}${pathname}?admission`;
}

/** Returns the URL of the page that watches many machines. */
export function toFleetUrl(pageUrl: string): string {
  const { origin, pathname } = new URL(pageUrl);
  return `${origin}${pathname.replace(/\/?$/, '/fleet')}`;
}
