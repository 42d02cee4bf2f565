import type { AgentConfig } from '../../config/config.ts';
import { reachableHost } from '../../config/reachable-host.ts';
import type { InstalledFacts } from '../facts.ts';
import { CLIENT_CERTIFICATE_HEADER } from '../../proxy-identity.ts';
import { type Answer, askWebSocket, type ClientCertificate, describeAnswer } from './ask.ts';

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
  const answer = await askWebSocket({ host, port, domain, path: '/' }, shown, passedOn);
  if (tls.clients !== null && shown === null) expectRefusal(answer);
  else if (answer.status !== 101 && answer.status !== 401) {
    throw new Error(`The agent opens no WebSocket on ${host}:${port}: ${describeAnswer(answer)}.`);
  }
}

/**
 * Checks that a viewer without a certificate got no stream: neither an answer nor the end of the handshake is one.
 * @throws Error with what it got instead
 */
export function expectRefusal(answer: Answer): void {
  if (answer.status === null && /certificate|alert/iu.test(answer.fault ?? '')) return;
  if (answer.status !== null && REFUSALS.has(answer.status)) return;
  const got = describeAnswer(answer);
  throw new Error(`A viewer without a certificate is not refused as it must be: ${got}.`);
}
