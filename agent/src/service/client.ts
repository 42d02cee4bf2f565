import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { connect } from 'node:net';

import { codeOf, messageOf } from '../errors.ts';
import { type AgentConfig, reachableHost } from '../config/config.ts';
import { decodeAnswer, MAX_LINE_BYTES, RELOAD } from './control-server.ts';

/** The files are read in milliseconds, on a busy machine in a second. */
const RELOAD_TIMEOUT_MS = 10_000;

/**
 * Requests a reload from the agent behind a socket.
 * @returns the problem as a sentence; null on success
 */
export async function requestReload(path: string): Promise<string | null> {
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
  const code = codeOf(error);
  if (code === 'ENOENT' || code === 'ECONNREFUSED') {
    return `No agent is running: nothing listens on ${path}.`;
  }
  if (code === 'EACCES') return `Only root and the agent's account may use ${path}.`;
  if (error instanceof SyntaxError) return `The program behind ${path} is not an agent.`;
  return `The agent does not answer at ${path}: ${messageOf(error)}.`;
}

/** A local agent answers in milliseconds. */
const HEALTH_TIMEOUT_MS = 3_000;

/** The body of `/health`, which other servers do not send. */
const HEALTHY_BODY = 'OK\n';

/**
 * Checks the health of the agent that runs with a configuration. Its certificate is not verified, because it is for another name
 * than this address.
 * @returns the problem as a sentence; null when the agent is healthy
 */
export async function checkAgentHealth({ listen }: AgentConfig): Promise<string | null> {
  const host = reachableHost(listen.host);
  try {
    const response = await request(host, listen.port);
    const isAgent = response.statusCode === 200 && (await readStart(response)) === HEALTHY_BODY;
    return isAgent ? null : `The program on port ${listen.port} is not the agent.`;
  } catch (error) {
    return explainHealthError(error, `${host}:${listen.port}`);
  }
}

async function request(host: string, port: number): Promise<IncomingMessage> {
  const target = { host, port, path: '/health', rejectUnauthorized: false, agent: false };
  // A socket timeout would restart with each step of the connection.
  const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS);
  return new Promise((resolve, reject) => {
    get({ ...target, signal }, resolve).on('error', reject);
  });
}

/** Reads only the start of a body, because another server may send much more. */
async function readStart(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response) {
    text += String(chunk);
    if (text.length > HEALTHY_BODY.length) break;
  }
  return text;
}

/** An agent that requires certificates in the handshake rejects this request, and is healthy. */
function explainHealthError(error: unknown, address: string): string | null {
  const code = codeOf(error);
  if (/ALERT_CERTIFICATE_REQUIRED|ALERT_HANDSHAKE_FAILURE/u.test(code)) return null;
  const isLate = error instanceof Error && error.name === 'AbortError';
  const why = isLate ? 'it timed out' : messageOf(error);
  return `The agent does not answer on ${address}: ${why}.`;
}
