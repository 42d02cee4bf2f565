import { isIPv4, isIPv6, type Socket } from 'node:net';

import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

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

/**
 * Counts the viewers of each client behind a proxy, all of whose connections come from the proxy's address. Clients on this
 * machine are not counted.
 */
export class ViewerLimits {
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  constructor(maxPerAddress: number) {
    this.#max = maxPerAddress;
  }

  /** @returns what releases the viewer, once; null when the client has as many viewers as it may have */
  add(address: string | undefined): (() => void) | null {
    if (isLoopback(address)) return () => undefined;
    const visitor = toVisitor(address);
    const count = this.#counts.get(visitor) ?? 0;
    if (count >= this.#max) return null;
    this.#counts.set(visitor, count + 1);
    return () => this.#release(visitor);
  }

  #release(visitor: string): void {
    const count = (this.#counts.get(visitor) ?? 1) - 1;
    if (count > 0) this.#counts.set(visitor, count);
    else this.#counts.delete(visitor);
  }
}

/**
 * What counts as one visitor: an IPv4 address, or the 64 bits of an IPv6 address that belong to one network.
 * @param address as a socket tells it; undefined when the visitor has gone already
 */
export function toVisitor(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  const mapped = address.replace(/^::ffff:(?=\d+\.)/iu, '');
  if (isIPv4(mapped) || !isIPv6(mapped)) return mapped;
  const [head = '', tail] = (mapped.split('%')[0] ?? '').split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...Array<string>(Math.max(0, gap)).fill('0'), ...after];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** Programs on this machine; a reverse proxy among them stands for many visitors. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(?:::ffff:)?127\.|^::1$/iu.test(address);
}

const INTERVAL_MS = 60_000;

/** As many addresses are told in a minute; a flood from more of them must not fill the disk with its log. */
const MAX_ADDRESSES = 500;

/** Tells of troublesome visitors, each address once a minute. */
export class AddressReports {
  readonly #clock: Clock;
  readonly #log: Log;
  /** When an address may be told again. The oldest are first, since all wait equally long. */
  readonly #quietUntilMs = new Map<string, number>();

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** @param problem a sentence; nothing that the visitor wrote */
  report(address: string, problem: string): void {
    const nowMs = this.#clock.monotonicMs();
    this.#forget(nowMs);
    if (this.#quietUntilMs.has(address) || this.#quietUntilMs.size >= MAX_ADDRESSES) return;
    this.#quietUntilMs.set(address, nowMs + INTERVAL_MS);
    this.#log.warn(problem, { address });
  }

  #forget(nowMs: number): void {
    for (const [address, untilMs] of this.#quietUntilMs) {
      if (untilMs > nowMs) return;
      this.#quietUntilMs.delete(address);
    }
  }
}
