import type { HostFacts, Listener } from '../facts.ts';
import { identifyServer, renderInstructions } from '../instructions/render-instructions.ts';
import { planProxy } from '../nginx/plan-proxy.ts';
import { instructRoute } from '../nginx/refuse.ts';
import type { InstallOptions } from '../options.ts';
import { listAgentSteps, listBaseSteps } from './agent-steps.ts';
import { describeProxy, guessCertificate } from './plan-challenge.ts';
import { planFirewall } from './plan-firewall.ts';
import { findAgentPort } from './plan-settings.ts';
import type { Draft, ManualSteps } from './plan.ts';

/** Plans an agent behind a web server that the administrator configures; that server is not touched. */
export function planByHand(options: InstallOptions, facts: HostFacts): Draft {
  const firewall = planFirewall(options, facts, [443]);
  const { domain, proxyPath } = options;
  const port = findAgentPort(options, 'proxy', facts);
  return {
    kind: 'draft',
    steps: [
      ...listBaseSteps(facts, false),
      ...firewall.steps,
      ...listAgentSteps(options, 'proxy', { kind: 'self-signed' }, facts),
    ],
    notes: [
      `The web server of this machine is left as it is: it must hand wss://${domain}${proxyPath} to https://127.0.0.1:${port}.`,
      ...firewall.notes,
    ],
    manualSteps: planManualSteps(options, facts),
    objections: [],
  };
}

/** Returns the lines to add to the web server; null where nginx contains them already. */
function planManualSteps(options: InstallOptions, facts: HostFacts): ManualSteps | null {
  const web = facts.listeners.filter(({ port }) => port === 80 || port === 443);
  const instructions = web.some(isNginx)
    ? instructNginx(options, facts)
    : instructOther(options, facts, web);
  return instructions === null ? null : { instructions, isRepeated: isRepeated(options, facts) };
}

function isNginx({ process }: Listener): boolean {
  return process?.name === 'nginx';
}

/** An nginx in a container has its configuration there, so these files may not be its. */
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
  const servers = web.map(({ process }) => identifyServer(process?.name ?? null));
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
