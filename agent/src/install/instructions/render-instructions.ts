import { listApacheCommands, renderApache } from './apache.ts';
import { renderCaddy, renderCaddyTls } from './caddy.ts';
import {
  listHaproxyCommands,
  renderHaproxyBackend,
  renderHaproxyBind,
  renderHaproxyFront,
} from './haproxy.ts';
import { renderOther } from './other.ts';
import type { OtherServer } from './recognise-server.ts';
import type { WayOptions } from './way-options.ts';

/**
 * Says how an agent on 127.0.0.1 is reached through a web server that the installer does not set up itself: what to put
 * where, how to load it, and how to see that it works.
 * @returns lines to be printed, with a line end
 */
export function renderInstructions(server: OtherServer, options: WayOptions): string {
  const { domain, proxyPath } = options;
  const parts = [
    ...listParts(server, options),
    `Look at it (it answers OK once the agent runs):\n\n    curl https://${domain}${proxyPath}/health`,
    `Viewers then connect to wss://${domain}${proxyPath}.`,
  ];
  return `${parts.join('\n\n')}\n`;
}

function listParts(server: OtherServer, options: WayOptions): readonly string[] {
  if (server === 'apache') return listApache(options);
  if (server === 'caddy') return listCaddy(options);
  if (server === 'haproxy') return listHaproxy(options);
  return [renderOther(options)];
}

/** A copy does not follow what the timer renews in time, and then the agent lets the web server in no more. */
const REPEATED =
  'Do the last of these again each year, and reload: the certificate in that file is renewed in time before its end (journalctl --unit latchkey-agent-revocations says when), and the copy is not.';

function listApache(options: WayOptions): readonly string[] {
  return [
    'Apache (2.4.47 or newer) answers for this machine. First, once:',
    indent(listApacheCommands(options).join('\n')),
    ...(options.mutualTls ? [REPEATED] : []),
    `Then put this into the <VirtualHost *:443> of ${options.domain}, before its own ProxyPass lines:`,
    indent(renderApache(options)),
    ...(options.mutualTls
      ? [
          'Apache knows no status 496: who shows no certificate is answered 403, and a bad one ends the handshake.',
        ]
      : []),
    'Test it and load it:',
    indent('apache2ctl configtest && systemctl restart apache2'),
  ];
}

function listCaddy(options: WayOptions): readonly string[] {
  return [
    `Caddy answers for this machine. Put this into the site "${options.domain}" of /etc/caddy/Caddyfile:`,
    indent(renderCaddy(options)),
    ...(options.mutualTls
      ? [
          'And this into its "tls { … }", which is added where there is none:',
          indent(renderCaddyTls(options)),
          'Caddy runs as a user of its own, which must be let in to the files below /etc/latchkey-agent/pki. It reads no list of revoked certificates: the agent rejects revoked ones.',
        ]
      : []),
    'Test it and load it:',
    indent('caddy validate --config /etc/caddy/Caddyfile && systemctl reload caddy'),
  ];
}

function listHaproxy(options: WayOptions): readonly string[] {
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

/** Lines that hold the second half of a quoted text stay where they are: spaces in it would be sent. */
function indent(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' || line.startsWith('"') ? line : `    ${line}`))
    .join('\n');
}
