import type { HostFacts } from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import { findAgentPort } from './agent-port.ts';
import { listAgentSteps, listGroundSteps } from './agent-steps.ts';
import type { Draft } from './draft.ts';
import { planFirewall } from './plan-firewall.ts';
import { planHandwork } from './plan-handwork.ts';

/** Plans an agent behind a web server that a person sets up: nothing of that server is touched, or looked at. */
export function planByHand(options: InstallOptions, facts: HostFacts): Draft {
  const firewall = planFirewall(options, facts, [443]);
  const { domain, proxyPath } = options;
  const port = findAgentPort(options, 'proxy', facts);
  return {
    kind: 'draft',
    steps: [
      ...listGroundSteps(facts, false),
      ...firewall.steps,
      ...listAgentSteps(options, 'proxy', { kind: 'self-signed' }, facts),
    ],
    notes: [
      `The web server of this machine is left as it is: it must hand wss://${domain}${proxyPath} to https://127.0.0.1:${port}.`,
      ...firewall.notes,
    ],
    handwork: planHandwork(options, facts),
    objections: [],
  };
}
