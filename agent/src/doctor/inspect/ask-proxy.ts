import { readFileSync } from 'node:fs';

import type { InstalledFacts } from '../../install/facts.ts';
import { paths } from '../../install/paths.ts';
import { requestPage, type ClientCertificate, type Target } from '../../install/verify/request.ts';
import { probeProxy } from '../../install/verify/probe-proxy.ts';
import type { Answer, ProxyStatus } from './inspection.ts';

const HTTPS_PORT = 443;

/** Asks the proxy of this machine for the health and the route, without and with a client certificate. */
export async function inspectProxy({
  domain,
  proxyPath,
  mutualTls,
}: InstalledFacts): Promise<ProxyStatus> {
  const identity = mutualTls ? readIdentity() : null;
  const { host } = await probeProxy({ domain, proxyPath });
  const target = { host, port: HTTPS_PORT, domain, path: proxyPath };
  const [health, route, routeWithCertificate] = await Promise.all([
    ask({ ...target, path: `${proxyPath}/health` }),
    ask(target),
    identity === null ? null : ask({ ...target, path: `${proxyPath}?admission` }, identity),
  ]);
  return { health, route, routeWithCertificate };
}

/** The proxy's own certificate was signed by the authority that its clients are asked for, and root may read it. */
function readIdentity(): ClientCertificate | null {
  try {
    return {
      cert: readFileSync(paths.proxyCertificate, 'utf8'),
      key: readFileSync(paths.proxyCertificateKey, 'utf8'),
    };
  } catch {
    return null;
  }
}

async function ask(target: Target, shown: ClientCertificate | null = null): Promise<Answer> {
  const { status, body, contentType, fault } = await requestPage(target, shown);
  return status === null
    ? { status, fault: fault ?? 'no answer' }
    : { status, body, type: contentType };
}
