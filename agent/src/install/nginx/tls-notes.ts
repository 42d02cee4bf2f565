import type { ProxyOptions } from '../proxy-options.ts';
import { describeNode } from './read-configuration.ts';
import { hasHttp2Directive, isAtLeast } from './render.ts';
import { findEffective, listensByHttp2, listOnPort, offersHttp2, type Server } from './servers.ts';

const OLD: ReadonlySet<string> = new Set(['SSLv2', 'SSLv3', 'TLSv1', 'TLSv1.1']);
const WANTED = ['TLSv1.2', 'TLSv1.3'];

/** The reason for which the installer does not change it. */
const REASON = 'The installer does not change it, because it affects every visitor of the site.';

/**
 * Returns notes on changes of an existing block that the administrator should make, so that viewers connect by TLS 1.2 and 1.3, with the
 * server's order of cipher suites, and by HTTP/2.
 */
export function listTlsNotes(
  server: Server,
  servers: readonly Server[],
  { version }: Pick<ProxyOptions, 'version'>,
): readonly string[] {
  return [
    ...noteProtocols(server, version),
    ...notePreference(server),
    ...noteHttp2(server, servers, version),
  ];
}

function noteProtocols(server: Server, version: string): readonly string[] {
  const [set] = findEffective(server, 'ssl_protocols');
  const protocols = set?.directive.args ?? listDefaultProtocols(version);
  const where = set === undefined ? `the default of nginx ${version}` : describeNode(set);
  const old = protocols.filter((each) => OLD.has(each));
  const missing = WANTED.filter((each) => !protocols.includes(each));
  if (old.length + missing.length === 0) return [];
  const what = [
    ...(old.length === 0 ? [] : [`accepts ${old.join(' and ')}`]),
    ...(missing.length === 0 ? [] : [`does not accept ${missing.join(' and ')}`]),
  ].join(' and ');
  return [
    `It ${what} (${where}): set "ssl_protocols TLSv1.2 TLSv1.3;". TLS before 1.2 has known weaknesses. ${REASON}`,
  ];
}

/** nginx 1.23.4 added TLS 1.3, and 1.27.3 removed TLS before 1.2. */
function listDefaultProtocols(version: string): readonly string[] {
  if (isAtLeast(version, [1, 27, 3])) return WANTED;
  const old = ['TLSv1', 'TLSv1.1', 'TLSv1.2'];
  return isAtLeast(version, [1, 23, 4]) ? [...old, 'TLSv1.3'] : old;
}

function notePreference(server: Server): readonly string[] {
  const [set] = findEffective(server, 'ssl_prefer_server_ciphers');
  if (set?.directive.args[0] === 'on') return [];
  const where = set === undefined ? 'the default of nginx' : describeNode(set);
  return [
    `It lets clients choose the cipher suite (${where}): set "ssl_prefer_server_ciphers on;". ${REASON}`,
  ];
}

function noteHttp2(server: Server, servers: readonly Server[], version: string): readonly string[] {
  if (offersHttp2(server) || listOnPort(servers, 443).some(listensByHttp2)) return [];
  const line = hasHttp2Directive(version) ? 'http2 on;' : 'listen 443 ssl http2;';
  return [`It offers no HTTP/2, which "${line}" adds. ${REASON}`];
}
