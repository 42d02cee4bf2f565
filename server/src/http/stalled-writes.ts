import type { Socket } from 'node:net';

/** Limits on how long clients may take to read. */
export interface WriteLimits {
  /** A connection without progress for this time is closed. */
  readonly writeStallMs: number;
  /** The time limit of a response that is written at once. */
  readonly writeDeadlineMs: number;
}

/** Bytes of a connection that wait for the client to read. */
interface PendingWrite {
  /** The written or queued bytes when this was first observed; an increase means that the client has read more. */
  bytesWritten: number;
  sinceMs: number;
  readonly onTimeout: () => void;
}

/**
 * Closes connections whose clients request and do not read. A sweep finds the connections with unwritten bytes and sets
 * Node's socket timeout on them, which counts a shrinking write queue as activity; so responses that are read at once,
 * nearly all, cost nothing.
 */
export class StalledWrites {
  readonly #connections: ReadonlySet<Socket>;
  readonly #limits: WriteLimits;
  readonly #onStall: () => void;
  readonly #pending = new Map<Socket, PendingWrite>();

  /** @param onStall is called for each connection that is closed */
  constructor(connections: ReadonlySet<Socket>, limits: WriteLimits, onStall: () => void) {
    this.#connections = connections;
    this.#limits = limits;
    this.#onStall = onStall;
  }

  /** To be called once a second. @param nowMs of a clock that is never set back */
  sweep(nowMs: number): void {
    for (const [socket, pending] of this.#pending) {
      if (socket.destroyed || socket.writableLength === 0) this.#unwatch(socket, pending);
    }
    for (const socket of this.#connections) {
      if (socket.writableLength > 0 && !socket.destroyed) this.#check(socket, nowMs);
    }
  }

  #check(socket: Socket, nowMs: number): void {
    const pending = this.#pending.get(socket);
    if (pending === undefined) {
      this.#watch(socket, nowMs);
    } else if (pending.bytesWritten !== socket.bytesWritten) {
      pending.bytesWritten = socket.bytesWritten;
      pending.sinceMs = nowMs;
    } else if (nowMs - pending.sinceMs > this.#limits.writeDeadlineMs) {
      this.#onStall();
      socket.destroy();
    }
  }

  #watch(socket: Socket, nowMs: number): void {
    const onTimeout = (): void => this.#onStall();
    this.#pending.set(socket, {
      bytesWritten: socket.bytesWritten,
      sinceMs: nowMs,
      onTimeout,
    });
    // Node's HTTP server destroys a connection whose timeout has no listener on its request, response or server.
    socket.setTimeout(this.#limits.writeStallMs).once('timeout', onTimeout);
  }

  /** The HTTP server sets a timeout of its own on a connection that becomes idle, which must stay. */
  #unwatch(socket: Socket, { onTimeout }: PendingWrite): void {
    this.#pending.delete(socket);
    socket.off('timeout', onTimeout);
    if (socket.timeout === this.#limits.writeStallMs) socket.setTimeout(0);
  }
}
