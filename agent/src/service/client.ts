import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { connect } from 'node:net';

import { type AgentConfig, reachableHost } from '../config/config.ts';
import { decodeAnswer, MAX_LINE_BYTES, RELOAD } from './control-server.ts';

/** Files of a few kilobytes are read in milliseconds, on a busy machine in a second. */
const RELOAD_TIMEOUT_MS = 10_000;

/**
 * Asks the agent behind a socket to read its files again.
 * @returns why they were not taken, or why nobody took them; null when they were taken
 */
export async function askReload(path: string): Promise<string | null> {
  const socket = connect(path);
  socket.setTimeout(RELOAD_TIMEOUT_MS, () => socket.destroy(new Error('it does not answer')));
  let received = '';
  try {
    socket.setEncoding('utf8').write(RELOAD);
    for await (const chunk of socket) {
      received += String(chunk);
      if (received.length > MAX_LINE_BYTES) break;
    }
    return decodeAnswer(received).problem;
  } catch (error) {
    return explainReloadError(error, path);
  } finally {
    socket.destroy();
  }
}

function explainReloadError(error: unknown, path: string): string {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  if (code === 'ENOENT' || code === 'ECONNREFUSED') {
    return `No agent runs: nobody answers at ${path}.`;
  }
  if (code === 'EACCES') return `Only root and the agent's account may use ${path}.`;
  if (error instanceof SyntaxError) return `What answers at ${path} is not an agent.`;
  return `The agent does not answer at ${path}: ${error instanceof Error ? error.message : String(error)}.`;
}

/** An agent on the same machine answers in milliseconds. */
const HEALTH_TIMEOUT_MS = 3_000;

/** Of `/health`. Other servers have one too, and say something else. */
const ANSWER = 'OK\n';

/**
 * Asks the agent that runs with a configuration whether it is well. Its certificate is for another name than the
 * address asked here, so it is not looked at.
 * @returns what is wrong, as a sentence; null when it answers
 */
export async function askHealth({ listen }: AgentConfig): Promise<string | null> {
  const host = reachableHost(listen.host);
  try {
    const response = await request(host, listen.port);
    const isAgent = response.statusCode === 200 && (await readStart(response)) === ANSWER;
    return isAgent ? null : `What listens on port ${listen.port} is not the agent.`;
  } catch (error) {
    return explainHealthError(error, `${host}:${listen.port}`);
  }
}

async function request(host: string, port: number): Promise<IncomingMessage> {
  const wish = { host, port, path: '/health', rejectUnauthorized: false, agent: false };
  // A limit on silence would begin anew with each step of the connection.
  const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS);
  return new Promise((resolve, reject) => {
    get({ ...wish, signal }, resolve).on('error', reject);
  });
}

/** Others may have much to say. */
async function readStart(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response) {
    text += String(chunk);
    if (text.length > ANSWER.length) break;
  }
  return text;
}

/** An agent that asks for certificates in the handshake says no to us, and is well. */
function explainHealthError(error: unknown, address: string): string | null {
  if (!(error instanceof Error))
    return `The agent does not answer on ${address}: ${String(error)}.`;
  const code = 'code' in error ? String(error.code) : '';
  if (/ALERT_CERTIFICATE_REQUIRED|ALERT_HANDSHAKE_FAILURE/u.test(code)) return null;
  const why = error.name === 'AbortError' ? 'it takes too long' : error.message;
  return `The agent does not answer on ${address}: ${why}.`;
}
