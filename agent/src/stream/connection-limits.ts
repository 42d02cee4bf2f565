import type { Socket } from 'node:net';

import { isLoopback, toVisitor } from './addresses.ts';

/**
 * Counts the connections of each visitor, and ends those that are too many. Those of this machine are not counted: a
 * reverse proxy on it stands for many visitors.
 */
export class ConnectionLimits {
  readonly #max: number;
  readonly #onRefused: (visitor: string) => void;
  readonly #counts = new Map<string, number>();

  constructor(maxPerAddress: number, onRefused: (visitor: string) => void) {
    this.#max = maxPerAddress;
    this.#onRefused = onRefused;
  }

  /** Counts a connection until it closes. One too many is ended at once. */
  add(socket: Socket): void {
    const { remoteAddress } = socket;
    if (isLoopback(remoteAddress)) return;
    const visitor = toVisitor(remoteAddress);
    const count = this.#counts.get(visitor) ?? 0;
    if (count >= this.#max) {
      socket.destroy();
      this.#onRefused(visitor);
      return;
    }
    this.#counts.set(visitor, count + 1);
    socket.once('close', () => this.#release(visitor));
  }

  #release(visitor: string): void {
    const count = (this.#counts.get(visitor) ?? 1) - 1;
    if (count > 0) this.#counts.set(visitor, count);
    else this.#counts.delete(visitor);
  }
}
