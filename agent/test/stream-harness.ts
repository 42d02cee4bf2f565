import { once } from 'node:events';
import { request } from 'node:https';
import type { AgentHost, AgentSnapshot } from '@latchkey/contract';
import { type ClientOptions, WebSocket } from 'ws';

import type { Clock } from '#agent/clock.ts';
import type { PartName } from '#agent/collector.ts';
import type { Log } from '#agent/log.ts';
import { AddressReports } from '#agent/stream/limits.ts';
import { Hub, MAX_BUFFERED_BYTES } from '#agent/stream/hub.ts';
import { StreamServer, type StreamServerOptions } from '#agent/stream/server.ts';
import type { TlsMaterial } from '#agent/tls/tls-files.ts';
import { exampleHost, exampleSnapshot } from './example-snapshot.ts';

const MINUTE_MS = 60_000;

/** A clock that a test advances. */
export class TestClock implements Clock {
  ms = Date.parse('2026-11-21T12:00:00Z');
  /** The milliseconds by which the wall clock was set forward. */
  leapMs = 0;
  readonly now = (): Date => new Date(this.ms + this.leapMs);
  readonly monotonicMs = (): number => this.ms;
}

/** Returns the example snapshot, numbered by its time, and records the requested parts. */
export class TestSampler {
  readonly requests: (ReadonlySet<PartName> | undefined)[] = [];
  /** The parts that were not woken, for each call of `wake`. */
  readonly wakes: ReadonlySet<PartName>[] = [];
  /** Fields added to the snapshots. */
  extra: Partial<AgentSnapshot> = {};
  /** Added to the host facts. */
  host: Partial<AgentHost> = {};

  sample(only?: ReadonlySet<PartName>): AgentSnapshot {
    this.requests.push(only);
    return {
      ...exampleSnapshot,
      ...this.extra,
      time: new Date(this.requests.length).toISOString(),
    };
  }

  wake(others: ReadonlySet<PartName>): void {
    this.wakes.push(others);
  }
}

/** A stream server on 127.0.0.1. */
export interface Stream extends AsyncDisposable {
  readonly port: number;
  readonly hub: Hub;
  readonly server: StreamServer;
  readonly sampler: TestSampler;
  readonly clock: TestClock;
  readonly warnings: string[];
}

export type StreamOptions = Partial<StreamServerOptions> & {
  readonly tls: TlsMaterial;
  readonly maxBufferedBytes?: number;
  /** When the agent started, in epoch milliseconds. */
  readonly startedMs?: number;
  /** Differences from the example host. */
  readonly host?: Partial<AgentHost>;
};

/** @param listenPort default: a free port */
export async function openStream(options: StreamOptions, listenPort = 0): Promise<Stream> {
  const clock = new TestClock();
  const sampler = new TestSampler();
  const warnings: string[] = [];
  const log: Log = {
    warn: (event, _message, fields = {}) => void warnings.push(`${event}: ${fields['reason']}`),
  };
  const readHost = (): AgentHost => ({ ...exampleHost, ...sampler.host });
  const { maxBufferedBytes = MAX_BUFFERED_BYTES, startedMs, host = {}, ...rest } = options;
  // Handshakes verify client certificates by the real clock, and this one stands still while a test creates them.
  clock.ms = startedMs ?? (rest.tls.clients === null ? clock.ms : Date.now() + MINUTE_MS);
  sampler.host = host;
  const machineId = '0123456789abcdef0123456789abcdef';
  const hub = new Hub({
    sampler,
    readHost,
    clock,
    intervalSeconds: 1,
    machineId,
    maxBufferedBytes,
  });
  const server = new StreamServer({
    hub,
    clock,
    reports: new AddressReports(clock, log),
    readRules: () => ({ isToken: null, allowedOrigins: new Set() }),
    refusesInHandshake: false,
    maxConnections: 2000,
    maxConnectionsPerAddress: 64,
    isBehindProxy: false,
    ...rest,
  });
  const { port } = await server.listen('127.0.0.1', listenPort);
  return {
    port,
    hub,
    server,
    sampler,
    clock,
    warnings,
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** A viewer that records its messages. */
export class TestViewer {
  readonly messages: string[] = [];
  readonly socket: WebSocket;
  readonly closed: Promise<{ code: number; reason: string }>;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => void this.messages.push(data.toString()));
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
  }

  /** Waits until a number of messages has arrived. */
  async receive(count: number): Promise<readonly string[]> {
    while (this.messages.length < count) await once(this.socket, 'message');
    return this.messages;
  }
}

/** Accepts the certificate of any server. */
const TRUSTING: ClientOptions = { rejectUnauthorized: false };

/**
 * Connects a viewer.
 * @throws Error with status and body when the server refuses
 */
export async function connect(
  port: number,
  subprotocols: readonly string[] = [],
  options: ClientOptions = {},
): Promise<TestViewer> {
  return connectTo(`wss://127.0.0.1:${port}/`, subprotocols, options);
}

/** Connects a viewer to the proxy of an agent. */
export async function connectTo(
  url: string,
  subprotocols: readonly string[] = [],
  options: ClientOptions = {},
): Promise<TestViewer> {
  const socket = new WebSocket(url, [...subprotocols], { ...TRUSTING, ...options });
  const viewer = new TestViewer(socket);
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.once('end', () => reject(new Error(`${response.statusCode} ${text.trim()}`)));
    });
  });
  return viewer;
}

/** Sends an HTTP request and returns the response. */
export async function sendRequest(
  port: number,
  path: string,
  options: { readonly method?: string; readonly headers?: Record<string, string> } = {},
): Promise<{ status: number; type: string; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, agent: false, rejectUnauthorized: false, ...options },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.once('end', () => {
          const type = response.headers['content-type'] ?? '';
          resolve({ status: response.statusCode ?? 0, type, text });
        });
      },
    );
    sent.once('error', reject).end();
  });
}
