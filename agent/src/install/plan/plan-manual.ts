import type { HostFacts, Listener } from '../facts.ts';
import { identifyServer, renderInstructions } from '../instructions/render-instructions.ts';
import { planProxy } from '../nginx/plan-proxy.ts';
import { instructRoute } from '../nginx/refuse.ts';
import type { InstallOptions } from '../options.ts';
import { assembleDraft } from './agent-steps.ts';
import { describeProxy, guessCertificate } from './plan-challenge.ts';
import { findAgentPort } from './plan-settings.ts';
import type { Draft, ManualSteps } from './plan.ts';

/** Plans an agent behind a web server that the administrator configures; that server is not touched. */
export function planManualProxy(options: InstallOptions, facts: HostFacts): Draft {
  const { domain, proxyPath } = options;
  const port = findAgentPort(options, 'proxy', facts);
  const note = `The web server of this machine is not changed: it must forward wss://${domain}${proxyPath} to https://127.0.0.1:${port}.`;
  const parts = {
    mode: 'proxy',
    source: { kind: 'self-signed' },
    ports: [443],
    notes: [note],
    manualSteps: planManualSteps(options, facts),
  } as const;
  return assembleDraft(parts, options, facts);
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

/** The files of this machine's nginx are not those of an nginx in a container. */
function instructNginx(options: InstallOptions, facts: HostFacts): string | null {
  const proxy = describeProxy(options, facts, guessCertificate(options, facts));
  const plan = planProxy(facts.nginx?.files ?? [], proxy);
  if (plan.kind === 'manual') return null;
  return plan.kind === 'refused' ? plan.instructions : instructRoute(proxy, null, null);
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
