import type { Duplex } from 'node:stream';

import type { AgentSubprotocol } from '@latchkey/contract';
import { WebSocket } from 'ws';

import type { Clock } from '../clock.ts';
import type { Frames, Viewer } from './hub.ts';

/**
 * More than this waiting to be read means that a viewer does not read. TLS may hold it three times (as it is, joined,
 * encrypted), so that it costs less than 2 MB.
 */
const MAX_WAITING_BYTES = 512 * 1024;

/** Nothing is expected of a viewer but answers to pings; a few messages are ignored. */
const MAX_MESSAGES = 20;
const MESSAGES_WINDOW_MS = 10_000;

/** A viewer who breaks the rules, or leaves, has this long to read why and to go; what else it sends costs us. */
export const FAREWELL_MS = 1000;

/** Close codes of RFC 6455. */
export const GOING_AWAY = 1001;
export const POLICY_VIOLATION = 1008;

/** What a viewer's connection is known by. */
interface ViewerFacts {
  readonly subprotocol: AgentSubprotocol;
  readonly clock: Clock;
  /** Told once, with a sentence, when the agent ends the connection for the viewer's fault. */
  readonly onFault: (problem: string) => void;
}

/** A viewer at the other end of a WebSocket. */
export class SocketViewer implements Viewer {
  readonly subprotocol: AgentSubprotocol;
  readonly #socket: WebSocket;
  readonly #transport: Duplex;
  readonly #facts: ViewerFacts;
  /** What the answer to the last ping must hold; null once it is there. */
  #expectedPong: Buffer | null = null;
  #isFaultTold = false;
  #messages = 0;
  #windowEndsAtMs = 0;

  /** @param transport what the WebSocket runs over */
  constructor(socket: WebSocket, transport: Duplex, facts: ViewerFacts) {
    this.subprotocol = facts.subprotocol;
    this.#socket = socket;
    this.#transport = transport;
    this.#facts = facts;
    socket.on('message', () => this.#countMessage());
    socket.on('ping', (data) => this.#answerPing(data));
    socket.on('pong', (data) => {
      // An unsolicited pong (RFC 6455, section 5.5.3) is no answer: its sender may have read nothing.
      if (this.#expectedPong?.equals(data) === true) this.#expectedPong = null;
      this.#countMessage();
    });
    // The library has begun to close the connection with the code that fits (1002, 1007, 1008, 1009).
    socket.on('error', ({ message }) => this.#tellFault(`A viewer was dropped: ${message}.`));
  }

  send(frames: Frames): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    if (this.#socket.bufferedAmount > MAX_WAITING_BYTES) {
      this.drop('it does not read what it is sent');
      return;
    }
    // All messages of a tick leave in as few packets as they fit in.
    this.#transport.cork();
    for (const frame of frames) this.#socket.send(frame, { binary: false });
    this.#transport.uncork();
  }

  get waitingBytes(): number {
    return this.#socket.bufferedAmount;
  }

  ping(data: Buffer): void {
    if (this.#expectedPong !== null) {
      this.drop('it did not answer a ping');
      return;
    }
    this.#expectedPong = data;
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping(data);
  }

  drop(why: string): void {
    this.#tellFault(`A viewer was dropped: ${why}.`);
    this.#socket.terminate();
  }

  /** Says why, and ends the connection. The library cuts it off after `FAREWELL_MS`. */
  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  #answerPing(data: Buffer): void {
    this.#countMessage();
    const { readyState, bufferedAmount } = this.#socket;
    if (readyState === WebSocket.OPEN && bufferedAmount <= MAX_WAITING_BYTES) {
      this.#socket.pong(data);
    }
  }

  #countMessage(): void {
    const nowMs = this.#facts.clock.monotonicMs();
    if (nowMs >= this.#windowEndsAtMs) {
      this.#messages = 0;
      this.#windowEndsAtMs = nowMs + MESSAGES_WINDOW_MS;
    }
    this.#messages += 1;
    if (this.#messages !== MAX_MESSAGES + 1) return;
    this.#tellFault('A viewer was dropped: it sent too many messages.');
    this.close(POLICY_VIOLATION, 'Too many messages: this stream takes none.');
  }

  #tellFault(problem: string): void {
    if (!this.#isFaultTold) this.#facts.onFault(problem);
    this.#isFaultTold = true;
  }
}
