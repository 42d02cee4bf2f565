import { readFileSync } from 'node:fs';
import { request, type RequestOptions } from 'node:https';

import type { InstalledFacts } from '../../install/facts.ts';
import { paths } from '../../install/paths.ts';
import { probeProxy } from '../../install/verify/probe-proxy.ts';
import type { Answer, ProxyLook } from './look.ts';

const TIMEOUT_MS = 5_000;

/** Of what is answered only the beginning is shown. */
const MAX_BODY_BYTES = 1_000;

type Identity = Pick<RequestOptions, 'cert' | 'key'>;

/** Asks the proxy of this machine for the health and the route, without and with a client certificate. */
export async function askProxy({
  domain,
  proxyPath,
  mutualTls,
}: InstalledFacts): Promise<ProxyLook> {
  const identity = mutualTls ? readIdentity() : null;
  const { host } = await probeProxy({ domain, proxyPath });
  const [health, route, routeWithCertificate] = await Promise.all([
    ask(host, domain, `${proxyPath}/health`),
    ask(host, domain, proxyPath),
    identity === null ? null : ask(host, domain, proxyPath, identity),
  ]);
  return { health, route, routeWithCertificate };
}

/** The proxy's own certificate was signed by the authority that its clients are asked for, and root may read it. */
function readIdentity(): Identity | null {
  try {
    const [cert, key] = [paths.proxyCertificate, paths.proxyCertificateKey].map((path) =>
      readFileSync(path),
    );
    return { cert, key };
  } catch {
    return null;
  }
}

/** By the domain's name, whatever the DNS says of it, and whoever signed the proxy's certificate. */
function ask(host: string, domain: string, path: string, identity: Identity = {}): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const sent = request(
    {
      host,
      port: 443,
      path,
      servername: domain,
      headers: { host: domain },
      rejectUnauthorized: false,
      agent: false,
      ...identity,
    },
    (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        body = (body + chunk).slice(0, MAX_BODY_BYTES);
      });
      response.once('close', () => {
        const { statusCode = 0, headers } = response;
        resolve({ status: statusCode, body, type: headers['content-type'] ?? '' });
      });
    },
  );
  sent.setTimeout(TIMEOUT_MS, () => sent.destroy(new Error('it takes too long')));
  sent.once('error', ({ message }) => resolve({ status: null, fault: message }));
  sent.end();
  return promise;
}
