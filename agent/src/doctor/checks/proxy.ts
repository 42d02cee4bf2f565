import { isOwnServerFile } from '../../install/nginx/own-files.ts';
import { findUpstreamPort } from '../../install/nginx/render.ts';
import { agentUnit, paths } from '../../install/paths.ts';
import { type Fault, type Finding, ok, problem, skipped } from '../finding.ts';
import type { Answer, Inspection } from '../inspect/inspection.ts';
import { findAgentPort } from './agent.ts';

const NO_CERTIFICATE = 496;

/** The status of web servers without 496, as the instructions configure them. */
const FORBIDDEN = 403;
const BAD_GATEWAY = 502;

/** The status of Apache and HAProxy instead. */
const UNAVAILABLE = 503;
const NOT_FOUND = 404;

const NO_PROXY = 'The agent is not behind a proxy.';
const OUT_OF_REACH =
  'The manually configured web server does not answer this machine itself: test from outside.';

const PRINT_INSTRUCTIONS = 'See what to put there: latchkey-agent install --mode proxy --dry-run';

type Advice = Pick<Fault, 'cause' | 'fix'>;

/** Checks that the proxy answers `GET <path>/health`. */
export function checkProxyHealth({ proxy, installed }: Inspection): Finding {
  if (proxy === null || installed === null) return skipped('proxy_health', NO_PROXY);
  const url = `https://${installed.domain}${installed.proxyPath}/health`;
  const { health } = proxy;
  if (health.status === 200 && health.body === 'OK\n') return ok('proxy_health', `${url} is OK.`);
  if (isOutOfReach(health, installed)) return skipped('proxy_health', OUT_OF_REACH);
  if (health.status === NOT_FOUND) {
    return problem('proxy_health', { symptom: `404 on ${url}.`, ...adviseRoute(installed) });
  }
  const symptom = `${url} does not answer OK.`;
  return problem('proxy_health', { symptom, ...adviseReload(health, installed) });
}

/** Checks that the route reaches the agent, and with mutual TLS only with a certificate. */
export function checkProxyRoute(inspection: Inspection): Finding {
  const { proxy, installed } = inspection;
  const port = findAgentPort(inspection);
  if (proxy === null || installed === null) return skipped('proxy_route', NO_PROXY);
  const { route } = proxy;
  const passed = installed.mutualTls ? proxy.routeWithCertificate : route;
  const url = `https://${installed.domain}${installed.proxyPath}`;
  const upstreamPort = findLoadedUpstreamPort(inspection) ?? port;
  if (upstreamPort !== port) {
    const symptom = `${url} does not reach the agent.`;
    return problem('proxy_route', { symptom, ...advisePortMismatch(upstreamPort, port) });
  }
  if (passed?.status === BAD_GATEWAY || passed?.status === UNAVAILABLE) {
    return problem('proxy_route', {
      symptom: `${passed.status} on ${url}.`,
      cause: `The agent does not run, or does not listen on 127.0.0.1:${port}.`,
      fix: `systemctl restart ${agentUnit}, and see that listen is 127.0.0.1:${port} in ${paths.configuration}`,
    });
  }
  if (route.status === NOT_FOUND) {
    return problem('proxy_route', { symptom: `404 on ${url}.`, ...adviseRoute(installed) });
  }
  if (passed?.status === null) {
    if (isOutOfReach(passed, installed)) return skipped('proxy_route', OUT_OF_REACH);
    const symptom = `${url} does not answer.`;
    return problem('proxy_route', { symptom, ...adviseReload(passed, installed) });
  }
  return ok('proxy_route', `${url} reaches the agent.`);
}

function advisePortMismatch(upstreamPort: number, port: number): Advice {
  return {
    cause: `nginx passes it to 127.0.0.1:${upstreamPort}, but ${paths.configuration} sets the agent to port ${port}.`,
    fix: `Have nginx follow: latchkey-agent install; or set listen: 127.0.0.1:${upstreamPort}, then: systemctl restart ${agentUnit}`,
  };
}

/** Returns the port to which the agent's files of nginx forward; null where nginx loads none. */
function findLoadedUpstreamPort({ nginx }: Inspection): number | null {
  const own = nginx?.files.filter(({ path }) => path === paths.nginxRoute || isOwnServerFile(path));
  const [port] = (own ?? []).flatMap(({ text }) => findUpstreamPort(text) ?? []);
  return port ?? null;
}

/** Checks that nginx answers 496 without a client certificate, and another status with a certificate of the authority. */
export function checkProxyCertificates({ proxy, installed, isRoot }: Inspection): Finding {
  if (proxy === null || installed === null) return skipped('proxy_certificates', NO_PROXY);
  if (!installed.mutualTls) return skipped('proxy_certificates', 'Mutual TLS is off.');
  const { route, routeWithCertificate } = proxy;
  if (isOutOfReach(route, installed)) return skipped('proxy_certificates', OUT_OF_REACH);
  if (route.status !== null && !isRefusal(route, installed)) {
    return problem('proxy_certificates', {
      symptom: `Without a client certificate ${nameServer(installed)} answers ${route.status} where it should answer 496.`,
      cause: 'The server block does not verify, or its route does not ask for the result.',
      fix: installed.proxyByHand
        ? PRINT_INSTRUCTIONS
        : `Install again: latchkey-agent install; or see that ssl_verify_client is "optional" in the server block, and that the route returns 496 unless $ssl_client_verify is SUCCESS.`,
    });
  }
  if (routeWithCertificate === null) {
    const why = isRoot
      ? `${paths.proxyCertificate} cannot be read`
      : 'only root may read a client certificate';
    return skipped(
      'proxy_certificates',
      `Without a certificate: ${route.status}, as it should be. With one was not tried: ${why}.`,
    );
  }
  if (isRejectedByAgent(routeWithCertificate, installed)) {
    return problem('proxy_certificates', {
      symptom: `${nameServer(installed)} admits a valid certificate, and the agent rejects it.`,
      cause: readBody(routeWithCertificate),
      fix: installed.proxyByHand
        ? PRINT_INSTRUCTIONS
        : 'Install again, so that nginx passes on the certificate of each client: latchkey-agent install',
    });
  }
  if (isRefusal(routeWithCertificate, installed)) {
    return problem('proxy_certificates', {
      symptom: `${routeWithCertificate.status}, though the client has a valid certificate.`,
      cause: `${nameServer(installed)} cannot use the authority's file ${paths.authorityCertificate} or the list ${paths.revocations}: ${readBody(routeWithCertificate)}.`,
      fix: `See that both are there and readable (chmod 644), that ssl_verify_client is "optional" in the server block, then: latchkey-agent client-cert refresh-list && systemctl reload nginx`,
    });
  }
  return ok(
    'proxy_certificates',
    `${route.status} without a client certificate, and not with one.`,
  );
}

/** Whether the agent refused: a manually configured web server may answer 403 itself. */
function isRejectedByAgent(answer: Answer, { proxyByHand }: Installed): boolean {
  return answer.status === FORBIDDEN && (!proxyByHand || answer.isRefusedByAgent);
}

type Installed = NonNullable<Inspection['installed']>;

/** Whether only a load balancer in front answers, as with a manually configured proxy. */
function isOutOfReach(answer: Answer, { proxyByHand }: Installed): boolean {
  return proxyByHand && answer.status === null && answer.code !== 'ECONNREFUSED';
}

function isRefusal({ status }: Answer, { proxyByHand }: Installed): boolean {
  return status === NO_CERTIFICATE || (proxyByHand && status === FORBIDDEN);
}

function adviseRoute({ domain, proxyByHand }: Installed): Advice {
  if (proxyByHand) {
    const cause = `The web server does not have the route of the agent for ${domain}.`;
    return { cause, fix: PRINT_INSTRUCTIONS };
  }
  return {
    cause: `No server block of ${domain} in nginx has the route of the agent.`,
    fix: `Install again: latchkey-agent install; or put "include ${paths.nginxRoute};" into the block, then: nginx -t && systemctl reload nginx`,
  };
}

function adviseReload(answer: Answer, installed: Installed): Advice {
  const cause = `${nameServer(installed)} ${describe(answer)}.`;
  if (installed.proxyByHand)
    return { cause, fix: 'Read its log, correct the configuration, and reload it.' };
  const fix = 'See why: nginx -t; journalctl -u nginx -n 20; then: systemctl restart nginx';
  return { cause, fix };
}

function nameServer({ proxyByHand }: Installed): string {
  return proxyByHand ? 'The web server' : 'nginx';
}

function readBody(answer: Answer): string {
  return answer.status === null ? answer.fault : answer.body.trim();
}

/** Checks that the domain has one server block: nginx ignores further ones with only a warning. */
export function checkServerNames({ nginx, installed }: Inspection): Finding {
  if (nginx === null || installed?.mode !== 'proxy') return skipped('server_names', NO_PROXY);
  if (nginx.foreign !== null) return checkForeign(nginx.foreign, installed);
  if (nginx.fault !== null) {
    return problem('server_names', {
      symptom: 'nginx does not start again, nor take changes.',
      cause: nginx.fault,
      fix: 'Correct it, then: nginx -t && systemctl reload nginx',
    });
  }
  const conflict = nginx.warnings.find(
    (each) => each.includes('conflicting server name') && each.includes(`"${installed.domain}"`),
  );
  if (conflict === undefined) return ok('server_names', 'No other server block has the name.');
  return problem('server_names', {
    symptom: 'nginx warns of a conflicting server name, and the route may be answered with 404.',
    cause: `Several server blocks are for the same name: ${conflict}`,
    fix: `Keep one of them and put "include ${paths.nginxRoute};" into it; remove ${paths.nginxServer} if the other one stays. Then: nginx -t && systemctl reload nginx`,
  });
}

/** Reports a running nginx that does not read the files that contain the route. */
function checkForeign(foreign: string, { proxyByHand }: Installed): Finding {
  if (proxyByHand) return skipped('server_names', foreign);
  return problem('server_names', {
    symptom: 'Changes of the route do not reach nginx, and it is gone after the next start.',
    cause: foreign,
    fix: 'Run the nginx that the command nginx starts (systemctl restart nginx), then: latchkey-agent install; or set up the other one: latchkey-agent install --proxy-by-hand',
  });
}

function describe(answer: Answer): string {
  return answer.status === null ? `does not answer: ${answer.fault}` : `answers ${answer.status}`;
}
