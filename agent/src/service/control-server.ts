import { once } from 'node:events';
import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';

import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';

const TIMEOUT_MS = 5_000;
const MAX_CONNECTIONS = 8;

/** Options of the control socket. */
export interface ControlOptions {
  /** The path of the socket, which only the agent's account and root may use. */
  readonly path: string;
  /** @returns the problem of a reload as a sentence; null on success */
  readonly reload: () => Promise<string | null>;
  readonly log: Log;
}

/**
 * Opens the socket for `latchkey-agent reload`. When that fails, the agent works without it and logs why.
 */
export async function openControl(options: ControlOptions): Promise<Disposable> {
  const { path, log } = options;
  const server = createServer((socket) => receive(socket, options));
  server.maxConnections = MAX_CONNECTIONS;
  try {
    if (await isListening(path)) throw new Error(`another agent uses ${path}`);
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    removeSocket(path);
    await listen(server, path);
  } catch (error) {
    log.warn(
      'control_socket.open_failed',
      'could not open the control socket; only SIGHUP reloads',
      {
        path,
        error: messageOf(error),
      },
    );
  }
  server.on('error', ({ message }) =>
    log.warn('control_socket.failed', 'control socket failed', { path, error: message }),
  );
  return { [Symbol.dispose]: () => void server.close() };
}

/** Removes the socket that a killed agent left behind. @throws Error when the file is not a socket */
function removeSocket(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isSocket()) throw new Error(`${path} exists and is not a socket`);
  rmSync(path);
}

/** Creates the socket with its final permissions. */
async function listen(server: Server, path: string): Promise<void> {
  const before = process.umask(0o177);
  try {
    server.listen(path);
  } finally {
    process.umask(before);
  }
  await once(server, 'listening');
  server.unref();
}

/** Whether a process listens on a socket: the file of a killed agent remains. */
async function isListening(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    // Missing or without a listener; opening the socket reports other problems.
    return false;
  } finally {
    socket.destroy();
  }
}

function receive(socket: Socket, { reload }: ControlOptions): void {
  let received = '';
  socket.setEncoding('utf8').setTimeout(TIMEOUT_MS, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: string) => {
    received += chunk;
    if (received.length > MAX_LINE_BYTES) socket.destroy();
    else if (received === RELOAD) void answerReload(socket, reload);
    else if (received.includes('\n'))
      socket.end(encodeAnswer({ problem: 'Unknown command; supported: reload.' }));
  });
}

async function answerReload(socket: Socket, reload: ControlOptions['reload']): Promise<void> {
  socket.end(encodeAnswer({ problem: await reload() }));
}

/** The control protocol: one line as a command, one line of JSON as the answer. */
export const RELOAD = 'reload\n';

/** More than any answer, which is a sentence with some paths. */
export const MAX_LINE_BYTES = 16 * 1024;

/** The outcome of a command. */
interface ControlAnswer {
  /** The problem as a sentence; null on success. */
  readonly problem: string | null;
}

function encodeAnswer(answer: ControlAnswer): string {
  return `${JSON.stringify(answer)}\n`;
}

/** @throws SyntaxError when it is not an answer */
export function decodeAnswer(text: string): ControlAnswer {
  const answer: unknown = JSON.parse(text);
  if (typeof answer === 'object' && answer !== null && 'problem' in answer) {
    const { problem } = answer;
    if (problem === null || typeof problem === 'string') return { problem };
  }
  throw new SyntaxError('This is not an answer of an agent.');
}
