import { CLIENT_ADDRESS_HEADER, CLIENT_CERTIFICATE_HEADER } from '../../proxy-identity.ts';
import { TLS_1_2_CIPHER_SUITES } from '../../tls/cipher-suites.ts';
import { paths } from '../paths.ts';
import type { ProxyOptions } from './plan-proxy.ts';

/** Where the agent listens behind a proxy. */
export function describeUpstream({ agentPort }: Pick<ProxyOptions, 'agentPort'>): string {
  return `https://127.0.0.1:${agentPort}/`;
}

/** The port of the agent that a text of ours names; null when it names none. */
export function findUpstreamPort(text: string): number | null {
  const port = /\bproxy_pass https:\/\/127\.0\.0\.1:(\d+)\//.exec(text)?.[1];
  return port === undefined ? null : Number(port);
}

/** What takes a request whose client certificate is no good. */
export const refusedLocation = '@latchkey_agent_refused';

export const challengePath = '/.well-known/acme-challenge/';

type RouteOptions = Pick<
  ProxyOptions,
  'agentPort' | 'domain' | 'mutualTls' | 'proxyPath' | 'viewersPerAddress'
>;

/** What a route takes into account beside its options. */
interface RouteSetting {
  /** Whether the block answers without TLS as well, where nobody is to be let in to the agent. */
  readonly isPlainToo?: boolean;
  /** Whether nginx loads `renderLimits`. */
  readonly isLimited?: boolean;
}

const ZONE = 'latchkey_agent';

/** The agent refuses a viewer too many with a reason; nginx only what comes beyond this reserve. */
const RESERVE = 16;

/** What counts the connections of each client. nginx takes it outside of server blocks only. */
export function renderLimits(): string {
  return `limit_conn_zone $binary_remote_addr zone=${ZONE}:1m;\n`;
}

/** The server block of a domain that has none with TLS. */
export function renderServer(options: ProxyOptions, isLimited = false): string {
  const { domain, certificate, certificateKey } = options;
  return join([
    'server {',
    ...indent([
      ...renderListens(options),
      `server_name ${domain};`,
      '',
      `ssl_certificate ${certificate};`,
      `ssl_certificate_key ${certificateKey};`,
      'ssl_protocols TLSv1.2 TLSv1.3;',
      `ssl_ciphers ${TLS_1_2_CIPHER_SUITES.join(':')};`,
      'ssl_prefer_server_ciphers on;',
      '',
      ...listRoute(options, { isLimited }),
      '',
      'location / {',
      '    default_type text/plain;',
      String.raw`    return 404 "There is nothing here.\n";`,
      '}',
    ]),
    '}',
  ]);
}

/** What goes into a server block with TLS: health, the stream, and what client certificates need. */
export function renderRoute(options: RouteOptions, setting: RouteSetting = {}): string {
  return join(listRoute(options, setting));
}

/** The server block that answers challenges of a domain that has none on port 80. */
export function renderChallengeServer({
  domain,
  hasIpv6,
}: Pick<ProxyOptions, 'domain' | 'hasIpv6'>): string {
  return join([
    'server {',
    ...indent([
      'listen 80;',
      ...(hasIpv6 ? ['listen [::]:80;'] : []),
      `server_name ${domain};`,
      '',
      ...listChallenge(),
      '',
      'location / {',
      '    return 301 https://$host$request_uri;',
      '}',
    ]),
    '}',
  ]);
}

/**
 * What goes into a server block on port 80, as the first thing in it: `return` and `rewrite` of a server come before its
 * locations, and `break` ends them for a challenge.
 */
export function renderChallenge(): string {
  return join([
    String.raw`if ($uri ~ "^/\.well-known/acme-challenge/") {`,
    '    break;',
    '}',
    ...listChallenge(),
  ]);
}

/** What lets the agent's paths pass a `return` or `rewrite` of a server, if it comes first. */
export function renderExemption(proxyPath: string): string {
  return [`    if ($uri ~ "^${escapeDots(proxyPath)}(/|$)") {`, '        break;', '    }'].join(
    '\n',
  );
}

function listChallenge(): readonly string[] {
  return [
    `location ^~ ${challengePath} {`,
    ...indent([
      `root ${paths.challenges};`,
      'default_type text/plain;',
      'auth_basic off;',
      'allow all;',
    ]),
    '}',
  ];
}

/** Whether `http2` is a directive of a block, as since nginx 1.25.1, and not part of `listen`. */
export function hasHttp2Directive(version: string): boolean {
  return isAtLeast(version, [1, 25, 1]);
}

function renderListens({ version, hasIpv6 }: ProxyOptions): readonly string[] {
  const isNew = hasHttp2Directive(version);
  const suffix = isNew ? 'ssl;' : 'ssl http2;';
  return [
    `listen 443 ${suffix}`,
    ...(hasIpv6 ? [`listen [::]:443 ${suffix}`] : []),
    ...(isNew ? ['http2 on;'] : []),
  ];
}

/** Whether a version of nginx is another one or newer. */
export function isAtLeast(version: string, wanted: readonly [number, number, number]): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[^\d]/).map(Number);
  const found = [major, minor, patch];
  const index = wanted.findIndex((part, at) => part !== found[at]);
  return index === -1 || (found[index] ?? 0) > (wanted[index] ?? 0);
}

function listRoute(
  options: RouteOptions,
  { isPlainToo = false, isLimited = false }: RouteSetting,
): readonly string[] {
  const { proxyPath, mutualTls, viewersPerAddress } = options;
  const limit = [`limit_conn ${ZONE} ${viewersPerAddress + RESERVE};`, 'limit_conn_status 429;'];
  const forwarding = [
    ...(isPlainToo ? SECURE : []),
    ...(isLimited ? limit : []),
    ...listForwarding(options),
  ];
  return [
    ...(mutualTls ? listVerification(options) : []),
    `location = ${proxyPath}/health {`,
    ...indent(['access_log off;', 'default_type text/plain;', String.raw`return 200 "OK\n";`]),
    '}',
    '',
    `location = ${proxyPath} {`,
    ...indent(forwarding),
    '}',
    '',
    `location ^~ ${proxyPath}/ {`,
    ...indent(forwarding),
    '}',
  ];
}

const SECURE = ['if ($scheme = http) {', '    return 301 https://$host$request_uri;', '}'];

/**
 * For the whole server, since nginx verifies in the handshake. A certificate that is no good would make every path answer 400:
 * `error_page 495` lets other paths, and health, go on as without one. A `return 496` without a text goes out as 400.
 */
function listVerification({ proxyPath }: RouteOptions): readonly string[] {
  return [
    `ssl_client_certificate ${paths.authorityCertificate};`,
    `ssl_crl ${paths.revocations};`,
    'ssl_verify_client optional;',
    'ssl_verify_depth 2;',
    `error_page 495 = ${refusedLocation};`,
    `location ${refusedLocation} {`,
    ...indent([
      'default_type text/plain;',
      `if ($uri !~ "^${escapeDots(proxyPath)}(/(?!health$)|$)") {`,
      '    rewrite ^ $uri last;',
      '}',
      String.raw`return 496 "The client certificate is refused: $ssl_client_verify.\n";`,
    ]),
    '}',
    '',
  ];
}

function listForwarding(options: RouteOptions): readonly string[] {
  const { domain, mutualTls } = options;
  return [
    ...(mutualTls ? listEnforcement() : []),
    `proxy_pass ${describeUpstream(options)};`,
    'proxy_http_version 1.1;',
    'proxy_set_header Upgrade $http_upgrade;',
    'proxy_set_header Connection "upgrade";',
    'proxy_set_header Host $host;',
    `proxy_set_header ${CLIENT_ADDRESS_HEADER} $remote_addr;`,
    ...(mutualTls
      ? [`proxy_set_header ${CLIENT_CERTIFICATE_HEADER} $ssl_client_escaped_cert;`]
      : []),
    'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;',
    'proxy_set_header X-Forwarded-Proto $scheme;',
    'proxy_ssl_server_name on;',
    `proxy_ssl_name ${domain};`,
    'proxy_ssl_verify off;',
    ...(mutualTls
      ? [
          `proxy_ssl_certificate ${paths.proxyCertificate};`,
          `proxy_ssl_certificate_key ${paths.proxyCertificateKey};`,
        ]
      : []),
    'proxy_buffering off;',
    'proxy_connect_timeout 60s;',
    'proxy_send_timeout 86400s;',
    'proxy_read_timeout 86400s;',
  ];
}

function listEnforcement(): readonly string[] {
  return [
    'default_type text/plain;',
    'if ($ssl_client_verify != SUCCESS) {',
    String.raw`    return 496 "A client certificate is needed.\n";`,
    '}',
  ];
}

function escapeDots(path: string): string {
  return path.replaceAll('.', String.raw`\.`);
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map((line) => (line === '' ? '' : `    ${line}`));
}

function join(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
