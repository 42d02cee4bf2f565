// Instructions for web servers that the installer does not configure itself.
import { CLIENT_CERTIFICATE_HEADER } from '../../proxy-identity.ts';
import { paths } from '../paths.ts';
import type { RouteOptions } from '../proxy-options.ts';
import { listApacheCommands, renderApache } from './apache.ts';
import { renderCaddy, renderCaddyTls } from './caddy.ts';
import {
  listHaproxyCommands,
  renderHaproxyBackend,
  renderHaproxyBind,
  renderHaproxyFront,
} from './haproxy.ts';

/** Renders how to configure a web server for an agent on 127.0.0.1: the lines to add, and how to load and test them. */
export function renderInstructions(server: OtherServer, options: RouteOptions): string {
  const { domain, proxyPath } = options;
  const parts = [
    ...listParts(server, options),
    `Check it (it answers OK once the agent runs):\n\n    curl https://${domain}${proxyPath}/health`,
    `Viewers then connect to wss://${domain}${proxyPath}.`,
  ];
  return `${parts.join('\n\n')}\n`;
}

function listParts(server: OtherServer, options: RouteOptions): readonly string[] {
  if (server === 'apache') return listApache(options);
  if (server === 'caddy') return listCaddy(options);
  if (server === 'haproxy') return listHaproxy(options);
  return [renderOther(options)];
}

/** A copy is not renewed, and the agent rejects the web server once it has expired. */
const REPEATED =
  'Repeat the last command each year, and reload: the certificate is renewed before it expires (journalctl --unit latchkey-agent-revocations shows when), but the copy is not.';

function listApache(options: RouteOptions): readonly string[] {
  return [
    'Apache (2.4.47 or newer) answers for this machine. First, once:',
    indent(listApacheCommands(options).join('\n')),
    ...(options.mutualTls ? [REPEATED] : []),
    `Then put this into the <VirtualHost *:443> of ${options.domain}, before its own ProxyPass lines:`,
    indent(renderApache(options)),
    ...(options.mutualTls
      ? [
          'Apache does not know status 496: a viewer without a certificate gets 403, and an invalid certificate ends the handshake.',
        ]
      : []),
    'Test it and load it:',
    indent('apache2ctl configtest && systemctl restart apache2'),
  ];
}

function listCaddy(options: RouteOptions): readonly string[] {
  return [
    `Caddy answers for this machine. Put this into the site "${options.domain}" of /etc/caddy/Caddyfile:`,
    indent(renderCaddy(options)),
    ...(options.mutualTls
      ? [
          'And this into its "tls { … }"; add one where there is none:',
          indent(renderCaddyTls(options)),
          'Caddy runs as a user of its own, which must be able to read the files below /etc/latchkey-agent/pki. It reads no revocation list: the agent rejects revoked ones.',
        ]
      : []),
    'Test it and load it:',
    indent('caddy validate --config /etc/caddy/Caddyfile && systemctl reload caddy'),
  ];
}

function listHaproxy(options: RouteOptions): readonly string[] {
  const commands = listHaproxyCommands(options);
  const bind = renderHaproxyBind(options);
  return [
    'HAProxy answers for this machine.',
    ...(commands.length > 0 ? ['First, once:', indent(commands.join('\n')), REPEATED] : []),
    ...(bind === '' ? [] : ['Add this to the "bind" line of port 443:', indent(bind)]),
    'Put this into the "frontend" that listens on port 443, before its own rules:',
    indent(renderHaproxyFront(options)),
    'And this behind it:',
    indent(renderHaproxyBackend(options)),
    'Test it and load it:',
    indent('haproxy -c -f /etc/haproxy/haproxy.cfg && systemctl reload haproxy'),
  ];
}

/** Indents lines, but not the second half of a quoted text, where spaces would be sent. */
function indent(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' || line.startsWith('"') ? line : `    ${line}`))
    .join('\n');
}

/** Describes the requirements of any web server in words. */
function renderOther(options: RouteOptions): string {
  const lines = listRules(options).map((rule) => `- ${rule}`);
  return [
    'An unknown web server answers for this machine. Configure it so that:',
    '',
    ...lines,
  ].join('\n');
}

function listRules({ domain, proxyPath, mutualTls, agentPort }: RouteOptions): readonly string[] {
  return [
    `https://${domain}${proxyPath}/health is answered with status 200, type text/plain and the text OK with a line end.`,
    `https://${domain}${proxyPath} and all paths below it are forwarded to https://127.0.0.1:${agentPort}, without ${proxyPath} in the path.`,
    'Upgrades to WebSocket are forwarded: HTTP/1.1, with the headers Upgrade and Connection.',
    'The headers Host, X-Real-IP, X-Forwarded-For and X-Forwarded-Proto carry the domain, the client and the protocol.',
    `The name ${domain} is sent to the agent by SNI, and the agent's self-signed certificate is not verified.`,
    'Responses are not buffered; connecting may take 60 seconds, and a connection may be idle for 86400 seconds.',
    'Visitors may use TLS 1.2 and 1.3, and HTTP/2.',
    ...(mutualTls
      ? [
          `Client certificates are requested (not required), and verified against ${paths.authorityCertificate} and ${paths.revocations} to a depth of 2; without a valid one, ${proxyPath} is answered 496.`,
          `The header ${CLIENT_CERTIFICATE_HEADER} is set to the certificate of the client, and replaces any that the client sent: PEM, URL-encoded or with spaces as line ends, or DER in base64.`,
          `The web server presents ${paths.proxyCertificate} with the key ${paths.proxyCertificateKey} to the agent.`,
        ]
      : []),
  ];
}

/** A web server with instructions. */
export type OtherServer = 'apache' | 'caddy' | 'haproxy' | 'other';

const KNOWN: Readonly<Record<string, OtherServer>> = {
  apache2: 'apache',
  httpd: 'apache',
  caddy: 'caddy',
  haproxy: 'haproxy',
};

/** Identifies a web server by its process name; null when it is unknown. */
export function identifyServer(processName: string | null): OtherServer {
  return KNOWN[processName ?? ''] ?? 'other';
}
