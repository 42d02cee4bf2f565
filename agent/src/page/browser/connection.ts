import type { AgentHello, AgentSnapshotMessage } from '@latchkey/contract';

/** How it stands with the agent. */
export type ConnectionState =
  | { readonly name: 'connecting' }
  | { readonly name: 'live' }
  /** @property reason what the agent said, null when it said nothing; `refused` means that trying again may not help */
  | {
      readonly name: 'waiting' | 'refused';
      readonly untilMs: number;
      readonly reason: string | null;
    }
  | { readonly name: 'token'; readonly reason: string };

interface ConnectionOptions {
  /** Of the page; the stream is at the same one. */
  readonly pageUrl: string;
  readonly readToken: () => string | null;
  readonly onState: (state: ConnectionState) => void;
  readonly onMessage: (message: AgentMessage) => void;
}

/** One that lasted as long was a good one, after which tries begin anew. */
const GOOD_MS = 10_000;

/** Nothing for so long means that the connection is dead, whatever the network says. */
const SILENT_INTERVALS = 4;
const SILENT_MS = 10_000;

/** Keeps a connection to the agent, over and over again. */
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

  /** Connects now, unless it is connected already. */
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
      if (performance.now() - openedAtMs > GOOD_MS) this.#attempt = 0;
      if (hasSpoken) this.#wait(reason === '' ? null : reason);
      else void this.#askWhy();
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

  /** Browsers do not tell why a WebSocket was refused, so the agent is asked. */
  async #askWhy(): Promise<void> {
    const token = this.#options.readToken();
    const headers = token === null ? undefined : { Authorization: `Bearer ${token}` };
    const init = { cache: 'no-store', ...(headers === undefined ? {} : { headers }) } as const;
    try {
      const answer = await fetch(toQuestionUrl(this.#options.pageUrl), init);
      const text = (await answer.text()).trim();
      // Somebody was quicker, and connects again already.
      if (this.#socket !== null) return;
      if (answer.status === 401) this.#options.onState({ name: 'token', reason: text });
      else if (answer.status === 403) this.#wait(text, 'refused');
      else if (answer.ok) this.#wait(BLOCKED, 'refused');
      else this.#wait(null);
    } catch {
      // Nobody is there; the next try will tell.
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

const BLOCKED = 'The WebSocket did not come through: a proxy must pass on Upgrade and Host.';

type AgentMessage = AgentHello | AgentSnapshotMessage;

/**
 * Reads what the agent sent. It is the agent that served this page, so its shape is taken as the contract says it.
 * @returns null for what this page does not know: a later version of the agent
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
 * How long to wait before the next try: doubled each time, and spread, so that a thousand pages do not come back at once.
 * @param attempt 0 for the first try after a connection was lost
 * @param random from 0 up to 1
 */
export function decideDelayMs(attempt: number, random: number): number {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 10));
  return Math.round(longest * (0.5 + random / 2));
}

/** Where the stream is: at the page's own address, whatever path a proxy gave it. */
export function toStreamUrl(pageUrl: string): string {
  const { protocol, host, pathname } = new URL(pageUrl);
  return `${protocol === 'http:' ? 'ws:' : 'wss:'}//${host}${pathname}`;
}

/** Where the agent says whether it would let the page watch, and why not. */
export function toQuestionUrl(pageUrl: string): string {
  const { origin, pathname } = new URL(pageUrl);
  return `${origin}${pathname}?admission`;
}
