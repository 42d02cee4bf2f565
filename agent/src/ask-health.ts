import { request } from 'node:https';

import type { AgentConfig } from './config/config.ts';

const TIMEOUT_MS = 5_000;

/**
 * Asks the agent that runs with a configuration whether it is well. Its certificate is for another name than the
 * address asked here, so it is not looked at.
 * @returns what is wrong, as a sentence; null when it answers
 */
export async function askHealth({ listen }: AgentConfig): Promise<string | null> {
  const host = reachableHost(listen.host);
  return new Promise((resolve) => {
    const sent = request(
      { host, port: listen.port, path: '/health', rejectUnauthorized: false, agent: false },
      (response) => {
        response.resume();
        const isAgent = response.statusCode === 200;
        resolve(isAgent ? null : `What listens on port ${listen.port} is not the agent.`);
      },
    );
    sent.setTimeout(TIMEOUT_MS, () => sent.destroy(new Error('it does not answer')));
    sent.once('error', (error) => resolve(explain(error, `${host}:${listen.port}`)));
    sent.end();
  });
}

/** An agent that asks for certificates in the handshake says no to us, and is well. */
function explain(error: Error, address: string): string | null {
  const code = 'code' in error ? String(error.code) : '';
  if (/ALERT_CERTIFICATE_REQUIRED|ALERT_HANDSHAKE_FAILURE/u.test(code)) return null;
  return `The agent does not answer on ${address}: ${error.message}.`;
}

function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
