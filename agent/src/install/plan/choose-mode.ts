import type { HostFacts, InstallMode, Listener, NginxFacts } from '../facts.ts';
import {
  type OtherServer,
  identifyServer,
  renderInstructions,
} from '../instructions/render-instructions.ts';
import type { InstallOptions } from '../options.ts';
import { findAgentPort } from './plan-settings.ts';
import { describeListener } from './check-host.ts';
import { type Manual, type Refusal, refuse } from './plan.ts';

/** How viewers reach the agent, and why. */
export interface ChosenMode {
  readonly kind: 'mode';
  readonly mode: InstallMode;
  readonly notes: readonly string[];
}

/**
 * Chooses the mode by the listeners on ports 80 and 443: through nginx; through another web server, which the administrator
 * configures; or on a port of its own when there is none. An upgrade for the same domain keeps its mode.
 */
export function chooseMode(
  options: InstallOptions,
  facts: HostFacts,
): ChosenMode | Manual | Refusal {
  const { installed } = facts;
  if (options.proxyByHand) return choose('proxy');
  if (options.forcesStandalone || options.mode === 'standalone') return choose('standalone');
  if (options.mode === 'proxy') return chooseProxy(options, facts);
  if (installed?.domain === options.domain) {
    return installed.mode === 'proxy' ? chooseProxy(options, facts) : choose('standalone');
  }
  const web = listWebListeners(facts);
  const proxy = web.find((each) => isProxy(each, facts));
  if (web.length === 0) return choose('standalone', describeIdleNginx(facts));
  return proxy === undefined
    ? returnInstructions(options, facts, web)
    : chooseProxy(options, facts);
}

function choose(mode: InstallMode, ...notes: readonly string[]): ChosenMode {
  return { kind: 'mode', mode, notes: notes.filter((note) => note !== '') };
}

function chooseProxy(options: InstallOptions, facts: HostFacts): ChosenMode | Manual | Refusal {
  const others = listWebListeners(facts).filter((each) => !isProxy(each, facts));
  if (others.length > 0) return returnInstructions(options, facts, others);
  const { nginx } = facts;
  if (nginx === null) {
    return refuse(
      'Proxy mode needs a reverse proxy, and none is installed: install nginx (apt-get install nginx), or choose standalone mode (--mode standalone).',
    );
  }
  if (!nginx.isRunning) {
    return refuse(
      'nginx is not running, so the agent cannot be reached through it: start it (systemctl start nginx), or choose standalone mode (--mode standalone).',
    );
  }
  if (nginx.foreign !== null) return createInstructions(options, facts, nginx.foreign, 'other');
  return nginx.fault === null ? choose('proxy') : refuse(explainFault(nginx.fault));
}

/** Explains that nginx rejects its current configuration, which therefore cannot be changed. */
export function explainFault(fault: NonNullable<NginxFacts['fault']>): string {
  return `nginx rejects its current configuration, fix that first (nginx -t): ${fault}`;
}

function listWebListeners({ listeners }: HostFacts): readonly Listener[] {
  return listeners.filter(({ port }) => port === 80 || port === 443);
}

/** Whether a listener is the nginx of this machine, and not one in a container. */
function isProxy({ process }: Listener, { nginx }: HostFacts): boolean {
  return process?.name === 'nginx' && nginx !== null;
}

function returnInstructions(
  options: InstallOptions,
  facts: HostFacts,
  others: readonly Listener[],
): Manual {
  const known = others.find(({ process }) => identifyServer(process?.name ?? null) !== 'other');
  const first = known ?? others[0];
  const who = first === undefined ? 'Another web server' : describeListener(first);
  const reason = `Port ${first?.port ?? 443} is used by ${who}, which this program does not configure.`;
  return createInstructions(options, facts, reason, identifyServer(first?.process?.name ?? null));
}

function createInstructions(
  options: InstallOptions,
  facts: HostFacts,
  reason: string,
  server: OtherServer,
): Manual {
  const agentPort = findAgentPort(options, 'proxy', facts);
  const text = renderInstructions(server, { ...options, agentPort });
  const instructions = `${explainOrder(options)}\n${text}`;
  return { kind: 'manual', reason, instructions };
}

/** Explains that the agent is installed first, because the web server may read its files. */
export function explainOrder({ mutualTls }: InstallOptions): string {
  const files = mutualTls ? ', which creates the files named below' : '';
  return `First install the agent itself by the same command with --proxy-by-hand (LATCHKEY_PROXY_BY_HAND=yes)${files}. Then:\n`;
}

function describeIdleNginx({ nginx }: HostFacts): string {
  if (nginx === null) return '';
  return 'nginx is installed but listens on neither port 80 nor 443, so the agent gets a port of its own; for proxy mode start nginx and choose --mode proxy.';
}
