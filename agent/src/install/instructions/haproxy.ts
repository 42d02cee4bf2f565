import { CLIENT_CERTIFICATE_HEADER } from '../../proxy-identity.ts';
import { paths } from '../paths.ts';
import type { RouteOptions } from '../proxy-options.ts';

/** HAProxy reads a certificate and its key from one file. */
const COMBINED = '/etc/haproxy/latchkey-agent-proxy.pem';

/** Returns the commands to run once. */
export function listHaproxyCommands({ mutualTls }: RouteOptions): readonly string[] {
  if (!mutualTls) return [];
  return [
    `install -m 600 /dev/null ${COMBINED}`,
    `cat ${paths.proxyCertificate} ${paths.proxyCertificateKey} > ${COMBINED}`,
  ];
}

/** Renders the addition to the `bind` line; empty without client certificates. */
export function renderHaproxyBind({ mutualTls }: RouteOptions): string {
  if (!mutualTls) return '';
  return `ca-file ${paths.authorityCertificate} crl-file ${paths.revocations} verify optional crt-ignore-err all ca-ignore-err all`;
}

/** Renders the lines for the `frontend` on port 443. */
export function renderHaproxyFront({ domain, proxyPath, mutualTls }: RouteOptions): string {
  const refuse = String.raw`http-request return status 496 content-type text/plain string "A client certificate is needed.\n"`;
  return [
    `acl latchkey_domain hdr(host),field(1,:) -i ${domain}`,
    `acl latchkey_path path ${proxyPath}`,
    `acl latchkey_path path_beg ${proxyPath}/`,
    String.raw`http-request return status 200 content-type text/plain string "OK\n" if latchkey_domain { path ${proxyPath}/health }`,
    ...(mutualTls
      ? [
          `${refuse} if latchkey_domain latchkey_path !{ ssl_c_used }`,
          `${refuse} if latchkey_domain latchkey_path !{ ssl_c_verify 0 }`,
        ]
      : []),
    'use_backend latchkey_agent if latchkey_domain latchkey_path',
    '',
  ].join('\n');
}

/** Renders the agent's `backend`. */
export function renderHaproxyBackend(options: RouteOptions): string {
  const { domain, proxyPath, mutualTls, agentPort } = options;
  const path = proxyPath.replaceAll('.', String.raw`\.`);
  return [
    'backend latchkey_agent',
    '    mode http',
    '    option forwardfor',
    '    http-request set-header X-Real-IP %[src]',
    '    http-request set-header X-Forwarded-Proto https',
    ...(mutualTls
      ? [`    http-request set-header ${CLIENT_CERTIFICATE_HEADER} %[ssl_c_der,base64]`]
      : []),
    String.raw`    http-request replace-path ^${path}/?(.*)$ /\1`,
    '    timeout connect 60s',
    '    timeout server 86400s',
    '    timeout tunnel 86400s',
    `    server agent 127.0.0.1:${agentPort} ssl verify none sni str(${domain}) alpn http/1.1${mutualTls ? ` crt ${COMBINED}` : ''}`,
    '',
  ].join('\n');
}
