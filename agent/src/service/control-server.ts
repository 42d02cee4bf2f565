import { once } from 'node:events';
import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';

import type { Log } from '../log.ts';

const TIMEOUT_MS = 5_000;
const MAX_CONNECTIONS = 8;

/** What is asked of a running agent from its own machine. */
export interface ControlOptions {
  /** Where the socket lies; only the agent's account and root may use it. */
  readonly path: string;
  /** @returns why the files were not taken; null when they were */
  readonly reload: () => string | null;
  readonly log: Log;
}

/**
 * Opens the socket for `latchkey-agent reload`. Where it cannot be opened the agent works without it, and logs why.
 * @returns what closes it
 */
export async function openControl(options: ControlOptions): Promise<Disposable> {
  const { path, log } = options;
  const server = createServer((socket) => receive(socket, options));
  server.maxConnections = MAX_CONNECTIONS;
  try {
    if (await isAnswered(path)) throw new Error(`another agent has ${path}`);
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    removeSocket(path);
    await listen(server, path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    log.warn(`latchkey-agent reload cannot reach this agent, but SIGHUP can: ${why}.`);
  }
  server.on('error', ({ message }) => log.warn(`The control socket has trouble: ${message}.`));
  return { [Symbol.dispose]: () => void server.close() };
}

/** Takes away what an agent that was killed has left. @throws Error when it is no socket, but somebody's file */
function removeSocket(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isSocket()) throw new Error(`${path} is there, and is no socket`);
  rmSync(path);
}

/** The file is made with its rights, so that nobody else can use it for a moment. */
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

/** Whether somebody listens there: the file of an agent that was killed stays behind. */
async function isAnswered(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    // Nothing there, or nobody behind it; what else is wrong shows when it is opened.
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
    else if (received === RELOAD) socket.end(encodeAnswer({ problem: reload() }));
    else if (received.includes('\n'))
      socket.end(encodeAnswer({ problem: 'It knows only reload.' }));
  });
}

/** What is said over the control socket: one line asks, one line of JSON answers. */
export const RELOAD = 'reload\n';

/** An answer holds a sentence with a path or two. */
export const MAX_LINE_BYTES = 16 * 1024;

/** What came of it. */
interface ControlAnswer {
  /** Why it was not done; null when it was. */
  readonly problem: string | null;
}

function encodeAnswer(answer: ControlAnswer): string {
  return `${JSON.stringify(answer)}\n`;
}

/** @throws SyntaxError when it is no answer */
export function decodeAnswer(text: string): ControlAnswer {
  const answer: unknown = JSON.parse(text);
  if (typeof answer === 'object' && answer !== null && 'problem' in answer) {
    const { problem } = answer;
    if (problem === null || typeof problem === 'string') return { problem };
  }
  throw new SyntaxError('It is no answer of an agent.');
}
