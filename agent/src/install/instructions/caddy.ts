import { CLIENT_CERTIFICATE_HEADER } from '../../proxy-identity.ts';
import { paths } from '../paths.ts';
import type { RouteOptions } from '../proxy-options.ts';

/** Renders the lines for the site of a Caddyfile of Caddy 2, in which quoted texts may span lines. */
export function renderCaddy(options: RouteOptions): string {
  const { proxyPath, mutualTls } = options;
  return [
    `handle ${proxyPath}/health {`,
    '\theader Content-Type text/plain',
    '\trespond "OK\n" 200',
    '}',
    `@latchkey path ${proxyPath} ${proxyPath}/*`,
    'handle @latchkey {',
    ...(mutualTls ? listEnforcement(options) : listForwarding(options, '\t')),
    '}',
    '',
  ].join('\n');
}

/** Renders the lines for the site's "tls", of which Caddy accepts one; empty without client certificates. */
export function renderCaddyTls({ mutualTls }: RouteOptions): string {
  if (!mutualTls) return '';
  return [
    'client_auth {',
    '\tmode verify_if_given',
    `\ttrusted_ca_cert_file ${paths.authorityCertificate}`,
    '}',
    '',
  ].join('\n');
}

/** Forwards only requests with a fingerprint of hexadecimal digits: without a certificate Caddy has `<nil>` there. */
function listEnforcement(options: RouteOptions): readonly string[] {
  return [
    '\t@latchkey_known vars_regexp {http.request.tls.client.fingerprint} ^[0-9a-f]+$',
    '\thandle @latchkey_known {',
    ...listForwarding(options, '\t\t'),
    '\t}',
    '\theader Content-Type text/plain',
    '\trespond "A client certificate is needed.\n" 496',
  ];
}

function listForwarding(
  { domain, proxyPath, mutualTls, agentPort }: RouteOptions,
  indentation: string,
): readonly string[] {
  const client = `${paths.proxyCertificate} ${paths.proxyCertificateKey}`;
  return [
    `uri strip_prefix ${proxyPath}`,
    `reverse_proxy https://127.0.0.1:${agentPort} {`,
    '\theader_up X-Real-IP {remote_host}',
    ...(mutualTls
      ? [
          `\theader_up ${CLIENT_CERTIFICATE_HEADER} {http.request.tls.client.certificate_der_base64}`,
        ]
      : []),
    '\tflush_interval -1',
    '\ttransport http {',
    '\t\tversions 1.1',
    '\t\tdial_timeout 60s',
    '\t\ttls_insecure_skip_verify',
    `\t\ttls_server_name ${domain}`,
    ...(mutualTls ? [`\t\ttls_client_auth ${client}`] : []),
    '\t}',
    '}',
  ].map((line) => indentation + line);
}
