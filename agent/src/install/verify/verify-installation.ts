// Verification: tests a finished installation as a viewer would.
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

import { type AgentConfig, reachableHost } from '../../config/config.ts';
import { loadConfig } from '../../config/load-config.ts';
import { CLIENT_CERTIFICATE_HEADER } from '../../proxy-identity.ts';
import { detectListeners } from '../detect/listeners.ts';
import type { InstalledFacts } from '../facts.ts';
import { agentUnit, paths } from '../paths.ts';
import type { RunProgram } from '../../system/run-program.ts';
import {
  type Answer,
  requestWebSocket,
  type ClientCertificate,
  describeAnswer,
} from './request.ts';
import { probeProxy } from './probe-proxy.ts';

const HTTPS_PORT = 443;
const LOOPBACK = '127.0.0.1';

export interface Verified {
  readonly installed: InstalledFacts;
  readonly runProgram: RunProgram;
}

/** How long to retry: old workers of a reloaded nginx still answer, and a restarted agent needs time to listen. */
const TIMEOUT_MS = 4_000;
const PAUSE_MS = 200;

/**
 * Verifies that a viewer can use the installation, with retries for some seconds.
 * @throws Error with the first problem
 */
export async function verifyInstallation(verified: Verified): Promise<void> {
  const lastAt = performance.now() + TIMEOUT_MS;
  for (;;) {
    try {
      return await verifyOnce(verified);
    } catch (error) {
      if (performance.now() > lastAt) throw error;
    }
    await setTimeout(PAUSE_MS);
  }
}

async function verifyOnce({ installed, runProgram }: Verified): Promise<void> {
  const { code } = await runProgram('systemctl', ['is-active', '--quiet', agentUnit]);
  if (code !== 0) throw new Error(`${agentUnit} does not run.`);
  const config = await loadConfig(paths.configuration);
  checkAddress(installed, runProgram, config.listen.port);
  await checkAgent(installed, config, installed.mutualTls ? readProxyCertificate() : null);
  // The administrator may configure the proxy later.
  if (installed.mode === 'standalone' || installed.proxyByHand) return;
  const { host, problem } = await probeProxy(installed);
  if (problem !== null) throw new Error(problem);
  await checkRoute(installed, host);
}

/** Checks that the agent listens on loopback only behind a proxy, and on every address without one. */
function checkAddress({ mode }: InstalledFacts, runProgram: RunProgram, port: number): void {
  const found = detectListeners({ root: '', runProgram }, [port]);
  const addresses = found.map(({ address }) => address);
  if (addresses.length === 0) {
    throw new Error(
      `Nothing listens on port ${port}, which ${paths.configuration} names: apply it (systemctl restart ${agentUnit}) and run this again.`,
    );
  }
  const isLocal = addresses.every((address) => address === LOOPBACK || address === '::1');
  if (isLocal === (mode === 'proxy')) return;
  const wanted = mode === 'proxy' ? '127.0.0.1 only' : 'every address';
  throw new Error(
    `The agent listens on ${addresses.join(', ')} instead of ${wanted}: correct listen in ${paths.configuration}.`,
  );
}

async function checkRoute(
  { domain, proxyPath, mutualTls }: InstalledFacts,
  host: string,
): Promise<void> {
  const target = { host, port: HTTPS_PORT, domain, path: proxyPath };
  const answer = await requestWebSocket(target);
  if (mutualTls) expectRefusal(answer);
  else if (answer.status !== 101 && answer.status !== 401) {
    const got = describeAnswer(answer);
    throw new Error(`nginx opens no WebSocket at https://${domain}${proxyPath}: ${got}.`);
  }
}

function readProxyCertificate(): ClientCertificate | null {
  const { proxyCertificate, proxyCertificateKey } = paths;
  if (!existsSync(proxyCertificate) || !existsSync(proxyCertificateKey)) return null;
  return {
    cert: readFileSync(proxyCertificate, 'utf8'),
    key: readFileSync(proxyCertificateKey, 'utf8'),
  };
}

/** The status for a viewer without a token or a certificate, from the agent or from nginx. */
const REFUSALS = new Set([401, 403, 496]);

/**
 * Checks that the agent opens a WebSocket on its configured address, or refuses a viewer without a certificate where it
 * requires one.
 * @param shown the certificate that the proxy presents to the agent; null without one
 * @throws Error with the problem
 */
export async function checkAgent(
  { domain }: Pick<InstalledFacts, 'domain'>,
  { listen, tls }: Pick<AgentConfig, 'listen' | 'tls'>,
  shown: ClientCertificate | null,
): Promise<void> {
  const { port } = listen;
  const host = reachableHost(listen.host);
  // The headers that the proxy would send for a viewer with the proxy's own certificate.
  const passedOn: Readonly<Record<string, string>> =
    shown === null ? {} : { [CLIENT_CERTIFICATE_HEADER]: encodeURIComponent(shown.cert) };
  const answer = await requestWebSocket({ host, port, domain, path: '/' }, shown, passedOn);
  if (tls.clients !== null && shown === null) expectRefusal(answer);
  else if (answer.status !== 101 && answer.status !== 401) {
    throw new Error(`The agent opens no WebSocket on ${host}:${port}: ${describeAnswer(answer)}.`);
  }
}

/**
 * Checks that a viewer without a certificate was refused, by an answer or in the handshake.
 * @throws Error with the answer
 */
function expectRefusal(answer: Answer): void {
  if (answer.status === null && /certificate|alert/iu.test(answer.fault ?? '')) return;
  if (answer.status !== null && REFUSALS.has(answer.status)) return;
  const got = describeAnswer(answer);
  throw new Error(`A viewer without a certificate is not rejected: ${got}.`);
}
