/** Limits per client address: connections, viewers behind a proxy, and log messages. */
import { isIPv4, isIPv6, type Socket } from 'node:net';

import type { Clock } from '../clock.ts';
import type { ClientEvent, Log } from '../log.ts';

const REPORT_INTERVAL_MS = 60_000;

/** The maximum number of addresses that are logged in a minute, so that a flood does not fill the disk. */
const MAX_REPORTED_ADDRESSES = 500;

/**
 * Returns the key by which a client is limited: an IPv4 address, or the /64 network of an IPv6 address.
 * @param address as a socket reports it; undefined when the client has disconnected
 */
export function toClientKey(address: string | undefined): string {
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

/** Whether an address is of this machine. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(?:::ffff:)?127\.|^::1$/iu.test(address);
}

/** Limits the slots of each client. Clients on this machine are not limited, since a local proxy represents many clients. */
export class ClientLimit {
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  constructor(maxPerClient: number) {
    this.#max = maxPerClient;
  }

  /** @returns a function that releases the slot, to be called once; null when the client has reached the limit */
  acquire(address: string | undefined): (() => void) | null {
    if (isLoopback(address)) return () => undefined;
    const key = toClientKey(address);
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#max) return null;
    this.#counts.set(key, count + 1);
    return () => this.#release(key);
  }

  #release(key: string): void {
    const count = (this.#counts.get(key) ?? 1) - 1;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }
}

/**
 * Limits the connections of each client by closing those beyond the limit.
 * @param onRefused called with the address of a refused connection
 */
export function limitConnections(
  maxPerClient: number,
  onRefused: (address: string | undefined) => void,
): (socket: Socket) => void {
  const limit = new ClientLimit(maxPerClient);
  return (socket) => {
    const { remoteAddress } = socket;
    const release = limit.acquire(remoteAddress);
    if (release !== null) {
      socket.once('close', release);
      return;
    }
    socket.destroy();
    onRefused(remoteAddress);
  };
}

const MESSAGES: Readonly<Record<ClientEvent, string>> = {
  'stream.connection_refused': 'refused a connection',
  'stream.handshake_failed': 'TLS handshake failed',
  'stream.metrics_failed': 'could not write metrics',
  'stream.page_build_failed': 'could not build a page',
  'stream.request_refused': 'refused an invalid request',
  'stream.viewer_dropped': 'dropped a viewer',
  'stream.viewer_refused': 'refused a viewer',
};

/** @param reason without data of the client */
export type ReportClient = (
  address: string | undefined,
  event: ClientEvent,
  reason: string,
) => void;

/** Logs events about clients, at most once a minute for each address. */
export class AddressReports {
  readonly #clock: Clock;
  readonly #log: Log;
  /** When an address may be logged again, oldest first. */
  readonly #quietUntilMs = new Map<string, number>();

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  readonly report: ReportClient = (address, event, reason) => {
    const key = toClientKey(address);
    const nowMs = this.#clock.monotonicMs();
    this.#removeOld(nowMs);
    if (this.#quietUntilMs.has(key) || this.#quietUntilMs.size >= MAX_REPORTED_ADDRESSES) return;
    this.#quietUntilMs.set(key, nowMs + REPORT_INTERVAL_MS);
    this.#log.warn(event, MESSAGES[event], { address: key, reason });
  };

  #removeOld(nowMs: number): void {
    for (const [key, untilMs] of this.#quietUntilMs) {
      if (untilMs > nowMs) return;
      this.#quietUntilMs.delete(key);
    }
  }
}
