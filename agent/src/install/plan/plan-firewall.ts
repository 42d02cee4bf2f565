import type { HostFacts } from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import type { FirewallStep } from '../steps.ts';

export interface FirewallPlan {
  readonly steps: readonly FirewallStep[];
  readonly notes: readonly string[];
}

type Tool = Exclude<HostFacts['firewall'], 'none'>;

const NAMES: Readonly<Record<Tool, string>> = {
  ufw: 'ufw',
  firewalld: 'firewalld',
  nft: 'nftables',
  iptables: 'iptables (legacy)',
};

/**
 * Opens ports in the active firewall when requested; otherwise notes which must be open.
 * @param ports the ports that must be reachable
 */
export function planFirewall(
  { opensFirewall }: InstallOptions,
  { firewall: tool }: HostFacts,
  ports: readonly number[],
): FirewallPlan {
  if (tool === 'none') return { steps: [], notes: [] };
  if (opensFirewall && tool !== 'iptables') {
    return { steps: ports.map((port) => ({ kind: 'firewall', tool, port }) as const), notes: [] };
  }
  const names = ports.length === 1 ? `port ${ports[0]}` : `ports ${ports.join(' and ')}`;
  const commands = listCommands(tool, ports).join('; ');
  const byCommand = commands === '' ? '' : ` (${commands})`;
  const byOption =
    tool === 'iptables'
      ? 'this program does not change these rules, because each distribution stores them elsewhere'
      : 'or install again with --open-firewall';
  return {
    steps: [],
    notes: [
      `A firewall is active (${NAMES[tool]}): ${names} must be open; open the closed ones${byCommand}, ${byOption}.`,
    ],
  };
}

/** Returns objections to requesting a certificate: authorities limit failed validations. */
export function listFirewallObjections(
  { domain, opensFirewall }: Pick<InstallOptions, 'domain' | 'opensFirewall'>,
  { isPort80Refused }: Pick<HostFacts, 'isPort80Refused'>,
): readonly string[] {
  if (opensFirewall || !isPort80Refused) return [];
  return [
    `ufw blocks port 80, on which the authority validates ${domain}: install with --open-firewall, or open it (ufw allow 80/tcp), or skip this check with --skip-dns-check where the domain reaches this machine by another route.`,
  ];
}

/** Returns the commands that open ports permanently; none for nftables, whose chains differ on each machine. */
function listCommands(tool: Tool, ports: readonly number[]): readonly string[] {
  if (tool === 'ufw') return ports.map((port) => `ufw allow ${port}/tcp`);
  if (tool === 'firewalld') {
    const added = ports.map((port) => `--add-port=${port}/tcp`).join(' ');
    return [`firewall-cmd --permanent ${added}`, 'firewall-cmd --reload'];
  }
  if (tool === 'nft') return [];
  const rule = `INPUT -p tcp -m multiport --dports ${ports.join(',')} -j ACCEPT`;
  return [
    `iptables -I ${rule}`,
    `ip6tables -I ${rule}`,
    'netfilter-persistent save on Debian, service iptables save on Red Hat',
  ];
}
