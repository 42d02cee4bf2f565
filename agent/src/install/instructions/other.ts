import { CLIENT_CERTIFICATE_HEADER } from '../../proxy-identity.ts';
import { paths } from '../paths.ts';
import type { WayOptions } from './way-options.ts';

/** What any web server must do, in words. */
export function renderOther(options: WayOptions): string {
  const lines = listRules(options).map((rule) => `- ${rule}`);
  return [
    'A web server that is not known here answers for this machine. Set it up so that:',
    '',
    ...lines,
  ].join('\n');
}

function listRules({ domain, proxyPath, mutualTls, agentPort }: WayOptions): readonly string[] {
  return [
    `https://${domain}${proxyPath}/health is answered with status 200, type text/plain and the text OK with a line end.`,
    `https://${domain}${proxyPath} and what lies below it is handed to https://127.0.0.1:${agentPort}, without ${proxyPath} in the path.`,
    'Upgrades to WebSocket are handed on: HTTP/1.1, with the headers Upgrade and Connection.',
    'The headers Host, X-Real-IP, X-Forwarded-For and X-Forwarded-Proto say who asked, and how.',
    `The agent is told the name ${domain} by SNI, and its certificate is not verified: it is its own.`,
    'Answers are not held back; connecting may take 60 seconds, a connection may be silent for 86400 seconds.',
    'Visitors may use TLS 1.2 and 1.3, and HTTP/2.',
    ...(mutualTls
      ? [
          `Client certificates are asked for (not demanded), and verified against ${paths.authorityCertificate} and ${paths.revocations} to a depth of 2; without a good one, ${proxyPath} is answered 496.`,
          `The header ${CLIENT_CERTIFICATE_HEADER} is set to the certificate of the client, and replaces any that the client sent: PEM, URL-encoded or with spaces as line ends, or DER in base64.`,
          `The agent is shown ${paths.proxyCertificate} with the key ${paths.proxyCertificateKey}.`,
        ]
      : []),
  ];
}
