import type { HostFacts, Listener } from '../facts.ts';
import { recogniseServer } from '../instructions/recognise-server.ts';
import { renderInstructions } from '../instructions/render-instructions.ts';
import { planProxy } from '../nginx/plan-proxy.ts';
import { instructRoute } from '../nginx/refuse.ts';
import type { InstallOptions } from '../options.ts';
import { findAgentPort } from './agent-port.ts';
import type { Handwork } from './plan.ts';
import { describeProxy, guessCertificate } from './plan-challenge.ts';

/** What a person has to put into the web server; null where nginx shows that it is there already. */
export function planHandwork(options: InstallOptions, facts: HostFacts): Handwork | null {
  const web = facts.listeners.filter(({ port }) => port === 80 || port === 443);
  const instructions = web.some(isNginx)
    ? instructNginx(options, facts)
    : instructOther(options, facts, web);
  return instructions === null ? null : { instructions, isRepeated: isRepeated(options, facts) };
}

function isNginx({ process }: Listener): boolean {
  return process?.name === 'nginx';
}

/** One in a container has its configuration there: what can be read here is not it. */
function instructNginx(options: InstallOptions, facts: HostFacts): string | null {
  const way = describeProxy(options, facts, guessCertificate(options, facts));
  const plan = planProxy(facts.nginx?.files ?? [], way);
  if (plan.kind === 'by-hand') return null;
  return plan.kind === 'refused' ? plan.instructions : instructRoute(way, null, null);
}

function instructOther(
  options: InstallOptions,
  facts: HostFacts,
  web: readonly Listener[],
): string {
  const servers = web.map(({ process }) => recogniseServer(process?.name ?? null));
  const server = servers.find((each) => each !== 'other') ?? 'other';
  return renderInstructions(server, {
    ...options,
    agentPort: findAgentPort(options, 'proxy', facts),
  });
}

function isRepeated(options: InstallOptions, { installed }: HostFacts): boolean {
  if (installed?.proxyByHand !== true) return false;
  const { domain, proxyPath, mutualTls } = installed;
  return (
    domain === options.domain && proxyPath === options.proxyPath && mutualTls === options.mutualTls
  );
}
