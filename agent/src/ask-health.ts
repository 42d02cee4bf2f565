import { request } from 'node:https';

import type { AgentConfig } from './config/config.ts';

/** An agent on the same machine answers in milliseconds. */
const TIMEOUT_MS = 3_000;

/**
 * Asks the agent that runs with a configuration whether it is well. Its certificate is for another name than the
 * address asked here, so it is not looked at.
 * @returns what is wrong, as a sentence; null when it answers
 */
export async function askHealth({ listen }: AgentConfig): Promise<string | null> {
  const host = reachableHost(listen.host);
  const wish = {
    host,
    port: listen.port,
    path: '/health',
    rejectUnauthorized: false,
    agent: false,
  };
  return new Promise((resolve) => {
    // A limit on silence would begin anew with each step of the connection.
    const sent = request({ ...wish, signal: AbortSignal.timeout(TIMEOUT_MS) }, (response) => {
      response.resume();
      const isAgent = response.statusCode === 200;
      resolve(isAgent ? null : `What listens on port ${listen.port} is not the agent.`);
    });
    sent.once('error', (error) => resolve(explain(error, `${host}:${listen.port}`)));
    sent.end();
  });
}

/** An agent that asks for certificates in the handshake says no to us, and is well. */
function explain(error: Error, address: string): string | null {
  const code = 'code' in error ? String(error.code) : '';
  if (/ALERT_CERTIFICATE_REQUIRED|ALERT_HANDSHAKE_FAILURE/u.test(code)) return null;
  const why = error.name === 'AbortError' ? 'it takes too long' : error.message;
  return `The agent does not answer on ${address}: ${why}.`;
}

function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
