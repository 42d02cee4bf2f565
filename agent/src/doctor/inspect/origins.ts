import { type AgentConfig, reachableHost } from '../../config/config.ts';
import type { InstalledFacts } from '../../install/facts.ts';
import { type ClientCertificate, requestPage, type Target } from '../../install/verify/request.ts';
import type { OriginStatus } from './inspection.ts';

/** More would take long, and would fail alike. */
const MAX_ORIGINS = 10;

/**
 * Requests the admission as pages of the allowed origins do, from the agent and through the local proxy.
 * @param identity a certificate that the proxy accepts; null without mutual TLS, or when it cannot be read
 */
export async function inspectOrigins(
  config: AgentConfig,
  installed: InstalledFacts | null,
  proxyHost: string | null,
  identity: ClientCertificate | null,
): Promise<OriginStatus[]> {
  const { listen, allowedOrigins } = config;
  const domain = installed?.domain ?? 'localhost';
  const agent = {
    host: reachableHost(listen.host),
    port: listen.port,
    domain,
    path: '/?admission',
  };
  const path = `${installed?.proxyPath ?? ''}?admission`;
  const proxy = proxyHost === null ? null : { host: proxyHost, port: 443, domain, path };
  const origins = [...allowedOrigins].filter((each) => each !== '*').slice(0, MAX_ORIGINS);
  return Promise.all(
    origins.map(async (origin) => ({
      origin,
      isAllowedByAgent: await isShared(agent, origin, null),
      isPassedByProxy: proxy === null ? null : await isShared(proxy, origin, identity),
    })),
  );
}

/** Whether a page of an origin may read the answer; null without an answer. */
async function isShared(
  target: Target,
  origin: string,
  identity: ClientCertificate | null,
): Promise<boolean | null> {
  const { status, sharedWith } = await requestPage(target, identity, { Origin: origin });
  // Without a certificate, a proxy with mutual TLS refuses before the agent answers.
  return status === null || status === 496 ? null : sharedWith === origin;
}
