import { CLIENT_ADDRESS_HEADER, CLIENT_CERTIFICATE_HEADER } from '../../proxy-identity.ts';
import { TLS_1_2_CIPHER_SUITES } from '../../tls/cipher-suites.ts';
import { paths } from '../paths.ts';
import type { ProxyOptions, RouteOptions } from '../proxy-options.ts';

/** Returns the agent's address behind a proxy. */
export function describeUpstream({ agentPort }: Pick<ProxyOptions, 'agentPort'>): string {
  return `https://127.0.0.1:${agentPort}/`;
}

/** Returns the agent's port in a rendered text; null when it contains none. */
export function findUpstreamPort(text: string): number | null {
  const port = /\bproxy_pass https:\/\/127\.0\.0\.1:(\d+)\//.exec(text)?.[1];
  return port === undefined ? null : Number(port);
}

/** The location of requests whose client certificate is invalid. */
export const refusedLocation = '@latchkey_agent_refused';

export const challengePath = '/.well-known/acme-challenge/';

type LimitedRouteOptions = RouteOptions & Pick<ProxyOptions, 'viewersPerAddress'>;

/** Properties of the block and of nginx that affect a route. */
interface RouteSetting {
  /** Whether the block also answers without TLS, where no viewer is admitted. */
  readonly answersWithoutTls?: boolean;
  /** Whether nginx loads `renderLimits`. */
  readonly isLimited?: boolean;
}

const ZONE = 'latchkey_agent';

/** nginx refuses only connections beyond this reserve, so that the agent can refuse with a reason. */
const RESERVE = 16;

/** Renders the zone that counts connections per client, which nginx accepts outside of server blocks only. */
export function renderLimits(): string {
  return `limit_conn_zone $binary_remote_addr zone=${ZONE}:1m;\n`;
}

/** Renders the server block of a domain that has none with TLS. */
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

/** Renders the lines for a server block with TLS: health, the stream, and client certificates. */
export function renderRoute(options: LimitedRouteOptions, setting: RouteSetting = {}): string {
  return join(listRoute(options, setting));
}

/** Renders the server block that answers challenges of a domain that has none on port 80. */
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
 * Renders the first lines of a server block on port 80: `return` and `rewrite` of a server precede its locations, and `break`
 * ends them for a challenge.
 */
export function renderChallenge(): string {
  return join([
    String.raw`if ($uri ~ "^/\.well-known/acme-challenge/") {`,
    '    break;',
    '}',
    ...listChallenge(),
  ]);
}

/** Renders the lines that exempt the agent's paths from a `return` or `rewrite` of a server, when they come first. */
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

/** Whether `http2` is a directive of its own, as since nginx 1.25.1, and not a parameter of `listen`. */
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

/** Whether nginx has at least a version. */
export function isAtLeast(version: string, wanted: readonly [number, number, number]): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[^\d]/).map(Number);
  const found = [major, minor, patch];
  const index = wanted.findIndex((part, at) => part !== found[at]);
  return index === -1 || (found[index] ?? 0) > (wanted[index] ?? 0);
}

function listRoute(
  options: LimitedRouteOptions,
  { answersWithoutTls = false, isLimited = false }: RouteSetting,
): readonly string[] {
  const { proxyPath, mutualTls, viewersPerAddress } = options;
  const limit = [`limit_conn ${ZONE} ${viewersPerAddress + RESERVE};`, 'limit_conn_status 429;'];
  const forwarding = [
    ...(answersWithoutTls ? SECURE : []),
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
 * Renders the verification for the whole server, because nginx verifies in the handshake. An invalid certificate would make
 * every path answer 400: `error_page 495` serves other paths, and health, as without one. A `return 496` without a text is sent
 * as 400.
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
