// The route through nginx: parses nginx's configuration without loss, and plans its changes.
import type { NginxFile } from '../facts.ts';
import { paths } from '../paths.ts';
import type { ProxyOptions } from '../proxy-options.ts';
import { findRouteBlocker, findVerificationBlocker, hasManualRoute } from './blockers.ts';
import { findFileBlocker, includeSnippet } from './includes.ts';
import { isOwnServerFile, writeFile } from './own-files.ts';
import { planLimits } from './choose-server-file.ts';
import { planDedicated, type Surroundings } from './plan-dedicated.ts';
import type { ProxyPlan } from './proxy-plan.ts';
import { describeNode, findDirectory, type Node, readConfiguration } from './read-configuration.ts';
import { refuseRoute, refuseVerification } from './refuse.ts';
import { renderRoute } from './render.ts';
import {
  type Choice,
  chooseServer,
  describeSeveral,
  listChosen,
  listOnPort,
  listServers,
  type Server,
  answersWithoutTls,
  usesTls,
  expectsProxyHeader,
} from './servers.ts';
import { listTlsNotes } from './tls-notes.ts';
import { NginxFault } from './tokens.ts';

/**
 * Plans the route through nginx: by a line in the domain's own server block, or by a block of the agent. Where the effect is
 * uncertain, the plan is refused with instructions for the administrator. Files of an earlier installation are ignored, so that
 * the same plan results again.
 * @param files the files that nginx loads, the main file first
 */
export function planProxy(files: readonly NginxFile[], options: ProxyOptions): ProxyPlan {
  const others = files.filter(({ path }) => !isOwnServerFile(path));
  try {
    return decide(files, others, readConfiguration(others), options);
  } catch (error) {
    if (error instanceof NginxFault) {
      return refuseRoute({ reason: error.message, advice: null }, options, null);
    }
    throw error;
  }
}

function decide(
  files: readonly NginxFile[],
  others: readonly NginxFile[],
  configuration: readonly Node[],
  options: ProxyOptions,
): ProxyPlan {
  const { domain, proxyPath } = options;
  const servers = listServers(configuration);
  const [stream] = listOnPort(listServers(configuration, 'stream'), 443);
  const choice = chooseServer(stream === undefined ? listOnPort(servers, 443) : servers, domain);
  // The PROXY protocol is a setting of the socket, whichever block sets it.
  const balanced = listOnPort(servers, 443).find((server) => expectsProxyHeader(server, 443));
  if (balanced !== undefined) return refuseBalanced(balanced, choice, options);
  if (listChosen(choice).some((server) => hasManualRoute(server, options))) {
    return { kind: 'manual', notes: [`The path ${proxyPath} reaches the agent already.`] };
  }
  if (stream !== undefined) {
    const reason = `Port 443 is used by a "stream" of nginx, which forwards connections (${describeNode(stream.node)}).`;
    const advice = `It is the block to which the "stream" forwards connections for ${domain}.`;
    return refuseRoute({ reason, advice }, options, null);
  }
  if (choice.kind === 'none') return planDedicated({ files, others, servers }, options);
  if (choice.kind === 'one') return planExisting(choice.server, { others, servers }, options);
  const advice = 'If several match, "nginx -t" warns of those that never answer.';
  return refuseRoute({ reason: describeSeveral(choice, domain, 443), advice }, options, null);
}

/** Refuses a port behind a load balancer: local tests would fail, and the agent would see its address for every viewer. */
function refuseBalanced(balanced: Server, choice: Choice, options: ProxyOptions): ProxyPlan {
  const reason = `nginx takes connections to port 443 from a load balancer that speaks the PROXY protocol (${describeNode(balanced.node)}), so the route cannot be tested from here.`;
  const advice =
    'Use "$proxy_protocol_addr" instead of "$remote_addr" in X-Real-IP, so that the agent learns the address of the client.';
  const [server] = listChosen(choice);
  return refuseRoute(
    { reason, advice },
    options,
    server === undefined ? null : describeNode(server.node),
  );
}

function planExisting(
  server: Server,
  { others, servers }: Pick<Surroundings, 'others' | 'servers'>,
  options: ProxyOptions,
): ProxyPlan {
  const place = describeNode(server.node);
  const directory = findDirectory(others);
  if (!usesTls(server, 443)) {
    const reason = `The server block of ${options.domain} listens on port 443 without TLS (${place}).`;
    const advice = 'It must speak TLS: "listen 443 ssl;", with a certificate.';
    return refuseRoute({ reason, advice }, options, place);
  }
  const verification = options.mutualTls ? findVerificationBlocker(server) : null;
  if (verification !== null) return refuseVerification(verification, options);
  const blocker = findRouteBlocker(server, options);
  if (blocker !== null) return refuseRoute(blocker, options, place);
  const reason = findFileBlocker(server, directory);
  if (reason !== null) return refuseRoute({ reason, advice: null }, options, place);
  const limits = planLimits(others);
  const setting = { answersWithoutTls: answersWithoutTls(server), isLimited: limits !== null };
  return {
    kind: 'existing',
    limits,
    route: writeFile(paths.nginxRoute, renderRoute(options, setting)),
    edits: includeSnippet(server, paths.nginxRoute, 'end', directory),
    notes: listNotes(server, servers, options),
  };
}

function listNotes(
  server: Server,
  servers: readonly Server[],
  { domain, mutualTls, version }: ProxyOptions,
): readonly string[] {
  const place = describeNode(server.node);
  const notes = [
    `The server block of ${domain} is at ${place}.`,
    ...listTlsNotes(server, servers, { version }),
  ];
  if (answersWithoutTls(server)) {
    notes.push('It also answers without TLS: there the path of the agent redirects to https.');
  }
  if (mutualTls) {
    notes.push(
      `Browsers with a client certificate may ask about it on every page of ${domain}; a separate domain for the agent avoids that.`,
    );
  }
  return notes;
}
