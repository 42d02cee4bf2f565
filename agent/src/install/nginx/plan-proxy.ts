import type { NginxFile } from '../facts.ts';
import { paths } from '../paths.ts';
import { describeSeveral } from './describe-servers.ts';
import { findRouteHindrance, findVerificationHindrance, hasRouteByHand } from './hindrances.ts';
import { findFileHindrance, includeSnippet } from './include-snippet.ts';
import { NginxFault } from './nginx-fault.ts';
import { isOwnServerFile } from './own-files.ts';
import { placeLimits } from './place-limits.ts';
import { planDedicated, type Surroundings } from './plan-dedicated.ts';
import type { ProxyOptions, ProxyPlan } from './proxy-plan.ts';
import { describeNode, type Node, readConfiguration } from './read-configuration.ts';
import { refuseRoute, refuseVerification } from './refuse.ts';
import { renderRoute } from './render.ts';
import {
  type Choice,
  chooseServer,
  listChosen,
  listOnPort,
  listServers,
  type Server,
  speaksPlainly,
  speaksTls,
  takesProxyHeader,
} from './servers.ts';
import { listTlsNotes } from './tls-notes.ts';
import { writeFile } from './write-file.ts';

/**
 * Decides how the agent is reached through nginx: by a line in the domain's own server block, or by a block of ours. Where it
 * cannot be told what that would do, nothing is planned, and the plan says what to paste instead. What an earlier
 * installation wrote is left out of the looking, so that the same comes out again.
 * @param files what nginx loads, the main file first
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
  // Of a socket, whichever block names it.
  const balanced = listOnPort(servers, 443).find((server) => takesProxyHeader(server, 443));
  if (balanced !== undefined) return refuseBalanced(balanced, choice, options);
  if (listChosen(choice).some((server) => hasRouteByHand(server, options))) {
    return { kind: 'by-hand', notes: [`The path ${proxyPath} leads to the agent already.`] };
  }
  if (stream !== undefined) {
    const reason = `Port 443 belongs to a "stream" of nginx, which hands connections on (${describeNode(stream.node)}).`;
    const advice = `It is the block that the "stream" hands connections for ${domain} to.`;
    return refuseRoute({ reason, advice }, options, null);
  }
  if (choice.kind === 'none') return planDedicated({ files, others, servers }, options);
  if (choice.kind === 'one') return planExisting(choice.server, { others, servers }, options);
  const advice = 'Where several fit, "nginx -t" warns of those that do not answer.';
  return refuseRoute({ reason: describeSeveral(choice, domain, 443), advice }, options, null);
}

/** What this machine asks itself would be no answer, and the agent would take the load balancer for every viewer. */
function refuseBalanced(balanced: Server, choice: Choice, options: ProxyOptions): ProxyPlan {
  const reason = `nginx takes connections to port 443 from a load balancer that speaks the PROXY protocol (${describeNode(balanced.node)}), so they cannot be tried from here.`;
  const advice =
    'With "$proxy_protocol_addr" in place of "$remote_addr" in X-Real-IP the agent learns who asks.';
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
  if (!speaksTls(server, 443)) {
    const reason = `The server block of ${options.domain} listens on port 443 without TLS (${place}).`;
    const advice = 'It must speak TLS: "listen 443 ssl;", with a certificate.';
    return refuseRoute({ reason, advice }, options, place);
  }
  const verification = options.mutualTls ? findVerificationHindrance(server) : null;
  if (verification !== null) return refuseVerification(verification, options);
  const hindrance = findRouteHindrance(server, options);
  if (hindrance !== null) return refuseRoute(hindrance, options, place);
  const reason = findFileHindrance(server);
  if (reason !== null) return refuseRoute({ reason, advice: null }, options, place);
  const limits = placeLimits(others);
  const setting = { isPlainToo: speaksPlainly(server), isLimited: limits !== null };
  return {
    kind: 'existing',
    limits,
    route: writeFile(paths.nginxRoute, renderRoute(options, setting)),
    edits: includeSnippet(server, paths.nginxRoute, 'end'),
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
  if (speaksPlainly(server)) {
    notes.push('It answers without TLS, too: from there the path of the agent leads to https.');
  }
  if (mutualTls) {
    notes.push(
      `Browsers with a client certificate may ask about it on every page of ${domain}; a name of its own for the agent avoids that.`,
    );
  }
  return notes;
}
