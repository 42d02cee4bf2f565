import { CLIENT_CERTIFICATE_HEADER } from '../../proxy-identity.ts';
import { paths } from '../paths.ts';
import type { RouteOptions } from '../proxy-options.ts';

/** Apache reads a certificate and its key from one file. */
const COMBINED = '/etc/apache2/latchkey-agent-proxy.pem';

/** Returns the commands to run once. */
export function listApacheCommands({ mutualTls }: RouteOptions): readonly string[] {
  return [
    'a2enmod ssl headers proxy proxy_http proxy_wstunnel',
    ...(mutualTls
      ? [
          `install -m 600 /dev/null ${COMBINED}`,
          `cat ${paths.proxyCertificate} ${paths.proxyCertificateKey} > ${COMBINED}`,
        ]
      : []),
  ];
}

/**
 * Renders the lines for a virtual host of Apache 2.4.47 or newer (`upgrade=websocket`). The agent itself answers health
 * requests, and refusals have status 403, because Apache does not know 496.
 */
export function renderApache(options: RouteOptions): string {
  const { proxyPath, mutualTls, agentPort } = options;
  const agent = `https://127.0.0.1:${agentPort}/`;
  return [
    ...(mutualTls ? listVerification(options) : []),
    `<Proxy "${agent}">`,
    '    SSLProxyEngine on',
    '    SSLProxyVerify none',
    '    SSLProxyCheckPeerCN off',
    '    SSLProxyCheckPeerName off',
    '    SSLProxyCheckPeerExpire off',
    ...(mutualTls ? [`    SSLProxyMachineCertificateFile ${COMBINED}`] : []),
    '</Proxy>',
    `<Location "${proxyPath}">`,
    '    ProxyPreserveHost on',
    '    RequestHeader set X-Real-IP "expr=%{REMOTE_ADDR}"',
    '    RequestHeader set X-Forwarded-Proto "https"',
    ...(mutualTls
      ? [`    RequestHeader set ${CLIENT_CERTIFICATE_HEADER} "%{SSL_CLIENT_CERT}s"`]
      : []),
    '</Location>',
    ...[`${proxyPath}/`, proxyPath].map(
      (path) =>
        `ProxyPass "${path}" "${agent}" upgrade=websocket connectiontimeout=60 timeout=86400 flushpackets=on`,
    ),
    '',
  ].join('\n');
}

function listVerification({ proxyPath }: RouteOptions): readonly string[] {
  const path = proxyPath.replaceAll('.', String.raw`\.`);
  return [
    `SSLCACertificateFile ${paths.authorityCertificate}`,
    `SSLCARevocationFile ${paths.revocations}`,
    'SSLCARevocationCheck leaf',
    'SSLVerifyClient optional',
    'SSLVerifyDepth 2',
    `<LocationMatch "^${path}(?!/health$)(/|$)">`,
    `    Require expr "%{SSL_CLIENT_VERIFY} == 'SUCCESS'"`,
    '    ErrorDocument 403 "A client certificate is needed."',
    '</LocationMatch>',
  ];
}
