import type { Duplex } from 'node:stream';

import type { AgentSubprotocol } from '@latchkey/contract';
import { WebSocket } from 'ws';

import type { Clock } from '../clock.ts';
import type { Viewer } from './hub.ts';

/**
 * A viewer with more unread bytes is dropped. TLS may hold them three times (plain, joined, encrypted): less than 2 MB.
 */
const MAX_WAITING_BYTES = 512 * 1024;

/** Viewers need only answer pings; a few other messages are ignored. */
const MAX_MESSAGES = 20;
const MESSAGES_WINDOW_MS = 10_000;

/** How long a viewer may take to close after a close frame. */
export const CLOSE_DEADLINE_MS = 1000;

/** Close codes of RFC 6455. */
export const GOING_AWAY = 1001;
export const POLICY_VIOLATION = 1008;

/** Settings of a viewer. */
interface ViewerFacts {
  readonly subprotocol: AgentSubprotocol;
  readonly clock: Clock;
  /** Called once, with the reason, when the agent closes the connection for a fault of the viewer. */
  readonly onFault: (reason: string) => void;
}

/** A viewer connected by a WebSocket. */
export class SocketViewer implements Viewer {
  readonly subprotocol: AgentSubprotocol;
  readonly #socket: WebSocket;
  readonly #transport: Duplex;
  readonly #facts: ViewerFacts;
  /** The data of the unanswered ping; null without one. */
  #expectedPong: Buffer | null = null;
  #isFaultReported = false;
  #messages = 0;
  #windowEndsAtMs = 0;

  /** @param transport the connection of the WebSocket */
  constructor(socket: WebSocket, transport: Duplex, facts: ViewerFacts) {
    this.subprotocol = facts.subprotocol;
    this.#socket = socket;
    this.#transport = transport;
    this.#facts = facts;
    socket.on('message', () => this.#countMessage());
    socket.on('ping', (data) => this.#answerPing(data));
    socket.on('pong', (data) => {
      // An unsolicited pong (RFC 6455, section 5.5.3) does not prove that its sender reads.
      if (this.#expectedPong?.equals(data) === true) this.#expectedPong = null;
      this.#countMessage();
    });
    // The library closes the connection with the correct code (1002, 1007, 1008, 1009).
    socket.on('error', ({ message }) => this.#reportFault(message));
  }

  send(frames: Buffer): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    if (this.#socket.bufferedAmount > MAX_WAITING_BYTES) {
      this.drop('it does not read its messages');
      return;
    }
    // The library would encode the frames again for each viewer. Without compression, it writes its own frames at once, too.
    this.#transport.write(frames);
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
    this.#reportFault(why);
    this.#socket.terminate();
  }

  /** Sends a close frame. The library closes the connection after `CLOSE_DEADLINE_MS`. */
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
    this.#reportFault('it sent too many messages');
    this.close(POLICY_VIOLATION, 'Too many messages: this stream accepts none.');
  }

  #reportFault(reason: string): void {
    if (!this.#isFaultReported) this.#facts.onFault(reason);
    this.#isFaultReported = true;
  }
}
