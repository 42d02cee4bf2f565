import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';

import type { Certificate } from '../../agent/test/certificates.ts';

import { eventually } from './eventually.ts';
import { findFreePort } from './ports.ts';

/**
 * Programs that are a Redis or Valkey server under the name `argv0`. Debian's packages redis-tools and valkey-tools have the same
 * program as redis-server and valkey-server, without a service that they start.
 */
const PROGRAMS = [
  { file: 'redis-server', argv0: 'redis-server' },
  { file: 'valkey-server', argv0: 'valkey-server' },
  { file: 'redis-check-rdb', argv0: 'redis-server' },
  { file: 'valkey-check-rdb', argv0: 'valkey-server' },
];

const found = findProgram();

/** Why there is no server; false: there is one. */
export const lacksRedis =
  found === null
    ? 'needs redis-server or valkey-server (Debian: redis-tools or valkey-tools)'
    : false;

/** A Redis or Valkey on a port of its own, without files. */
export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  send(signal: NodeJS.Signals): void;
  /** Kills it and waits for its end. */
  kill(): Promise<void>;
}

/**
 * Starts a server, and waits until it accepts connections.
 * @param port default: a free one
 * @param certificate of a server that accepts only TLS, as `localhost`
 */
export async function startRedis(
  port?: number,
  certificate?: Pick<Certificate, 'certificateFile' | 'keyFile'>,
): Promise<RedisServer> {
  const chosen = port ?? (await findFreePort());
  const args = [
    ...(certificate === undefined
      ? ['--port', String(chosen)]
      : listenWithTls(chosen, certificate)),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
  ];
  const child = spawn(found?.path ?? '', args, { argv0: found?.argv0 ?? '', stdio: 'ignore' });
  const ended = once(child, 'exit');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  await eventually(() => accepts(chosen));
  return {
    url: certificate === undefined ? `redis://127.0.0.1:${chosen}` : `rediss://localhost:${chosen}`,
    send: (signal) => void child.kill(signal),
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

function listenWithTls(
  port: number,
  { certificateFile, keyFile }: Pick<Certificate, 'certificateFile' | 'keyFile'>,
): string[] {
  const options = {
    '--port': '0',
    '--tls-port': String(port),
    '--tls-auth-clients': 'no',
    '--tls-cert-file': certificateFile,
    '--tls-key-file': keyFile,
    '--tls-ca-cert-file': certificateFile,
  };
  return Object.entries(options).flat();
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false)).once('connect', () => resolve(true));
    socket.once('connect', () => socket.destroy());
  });
}

function findProgram(): { readonly path: string; readonly argv0: string } | null {
  const directories = (process.env['PATH'] ?? '').split(delimiter);
  for (const { file, argv0 } of PROGRAMS) {
    const path = directories.map((each) => join(each, file)).find(isExecutable);
    if (path !== undefined) return { path, argv0 };
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Not there.
    return false;
  }
}
