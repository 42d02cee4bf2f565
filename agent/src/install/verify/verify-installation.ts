import { existsSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

import { type AgentConfig, reachableHost } from '../../config/config.ts';
import { loadConfig } from '../../config/load-config.ts';
import { CLIENT_CERTIFICATE_HEADER } from '../../proxy-identity.ts';
import { detectListeners } from '../detect/listeners.ts';
import type { InstalledFacts } from '../facts.ts';
import { agentUnit, paths } from '../paths.ts';
import type { RunProgram } from '../run-program.ts';
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

/** A reloaded nginx lets its old workers answer for a moment, and a restarted agent takes one to listen. */
const PATIENCE_MS = 4_000;
const PAUSE_MS = 200;

/**
 * Looks whether what was installed works, as a viewer would, and looks again for some seconds where it does not.
 * @throws Error with the first thing that is not as it must be
 */
export async function verifyInstallation(verified: Verified): Promise<void> {
  const lastAt = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await lookOnce(verified);
    } catch (error) {
      if (performance.now() > lastAt) throw error;
    }
    await setTimeout(PAUSE_MS);
  }
}

async function lookOnce({ installed, runProgram }: Verified): Promise<void> {
  const { code } = await runProgram('systemctl', ['is-active', '--quiet', agentUnit]);
  if (code !== 0) throw new Error(`${agentUnit} does not run.`);
  const config = await loadConfig(paths.configuration);
  checkAddress(installed, runProgram, config.listen.port);
  await checkAgent(installed, config, installed.mutualTls ? readProxyCertificate() : null);
  // What a person sets up may come later.
  if (installed.mode === 'standalone' || installed.proxyByHand) return;
  const { host, problem } = await probeProxy(installed);
  if (problem !== null) throw new Error(problem);
  await checkRoute(installed, host);
}

/** Behind a proxy nobody else may reach the agent; without one everybody must. */
function checkAddress({ mode }: InstalledFacts, runProgram: RunProgram, port: number): void {
  const found = detectListeners({ root: '', runProgram }, [port]);
  const addresses = found.map(({ address }) => address);
  if (addresses.length === 0) {
    throw new Error(
      `Nothing listens on port ${port}, which ${paths.configuration} names: put it into force (systemctl restart ${agentUnit}) and run this again.`,
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

/** The status of an answer to a viewer without a token or a certificate, from the agent or from nginx: both run. */
const REFUSALS = new Set([401, 403, 496]);

/**
 * Checks that the agent opens a WebSocket on the address that it is configured to listen on, or refuses a viewer without a
 * certificate where it requires one.
 * @param shown the certificate that the proxy shows to the agent; null without one
 * @throws Error with what is wrong
 */
export async function checkAgent(
  { domain }: Pick<InstalledFacts, 'domain'>,
  { listen, tls }: Pick<AgentConfig, 'listen' | 'tls'>,
  shown: ClientCertificate | null,
): Promise<void> {
  const { port } = listen;
  const host = reachableHost(listen.host);
  // As the proxy does, with itself as the client.
  const passedOn: Readonly<Record<string, string>> =
    shown === null ? {} : { [CLIENT_CERTIFICATE_HEADER]: encodeURIComponent(shown.cert) };
  const answer = await requestWebSocket({ host, port, domain, path: '/' }, shown, passedOn);
  if (tls.clients !== null && shown === null) expectRefusal(answer);
  else if (answer.status !== 101 && answer.status !== 401) {
    throw new Error(`The agent opens no WebSocket on ${host}:${port}: ${describeAnswer(answer)}.`);
  }
}

/**
 * Checks that a viewer without a certificate got no stream: neither an answer nor the end of the handshake is one.
 * @throws Error with what it got instead
 */
function expectRefusal(answer: Answer): void {
  if (answer.status === null && /certificate|alert/iu.test(answer.fault ?? '')) return;
  if (answer.status !== null && REFUSALS.has(answer.status)) return;
  const got = describeAnswer(answer);
  throw new Error(`A viewer without a certificate is not refused as it must be: ${got}.`);
}
