import type { HostFacts } from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import type { FirewallStep } from '../steps.ts';

/** What is to be done about a firewall. */
export interface FirewallPlan {
  readonly steps: readonly FirewallStep[];
  readonly notes: readonly string[];
}

/**
 * Opens ports in the firewall that is active, when asked for; else says which ones must be open.
 * @param ports what must be reachable
 */
export function planFirewall(
  { opensFirewall }: InstallOptions,
  { firewall: tool }: HostFacts,
  ports: readonly number[],
): FirewallPlan {
  if (tool === 'none') return { steps: [], notes: [] };
  if (opensFirewall) {
    const steps = ports.map((port) => ({ kind: 'firewall', tool, port }) as const);
    return { steps, notes: tool === 'nft' ? [explainLoss(ports)] : [] };
  }
  const names = ports.length === 1 ? `port ${ports[0]}` : `ports ${ports.join(' and ')}`;
  const name = tool === 'ufw' ? 'ufw' : 'nftables';
  const byHand =
    tool === 'ufw' ? ` (${ports.map((port) => `ufw allow ${port}/tcp`).join('; ')})` : '';
  return {
    steps: [],
    notes: [
      `A firewall is active (${name}): ${names} must be open; open what is not${byHand}, or have it done with --open-firewall.`,
    ],
  };
}

/** Where its rules come from is up to each machine, so they are added to what is in force alone. */
function explainLoss(ports: readonly number[]): string {
  return `What is opened in nftables lasts until its rules are loaded anew, at the next start at the latest: add "tcp dport { ${ports.join(', ')} } accept" to its input chain where they are kept (mostly /etc/nftables.conf).`;
}
