import { type Finding, ok, problem, skipped, warning } from '../finding.ts';
import type { Inspection } from '../inspect/inspection.ts';
import { findAgentPort } from './agent.ts';

const HTTP_PORT = 80;
const HTTPS_PORT = 443;

/** Checks that the ports of the mode are open. */
export function checkFirewall(inspection: Inspection): Finding {
  const { tool, openPorts } = inspection.firewall;
  if (tool === 'none') return ok('firewall', 'No firewall of this machine blocks anything.');
  if (openPorts !== null) {
    if (tool === 'nft') return checkRules(inspection, 'nftables', openPorts);
    if (tool === 'iptables') return checkRules(inspection, tool, openPorts);
    return (
      (tool === 'firewalld' && checkReload(inspection)) || checkManaged(inspection, tool, openPorts)
    );
  }
  const needed = formatList(listNeededPorts(inspection).map(String));
  const message = `${tool === 'nft' ? 'nftables' : tool} refuses some connections: check that port ${needed} is open.`;
  return skipped('firewall', message);
}

interface Commands {
  readonly open: (ports: readonly number[]) => string;
  readonly close: (port: number) => string;
}

const COMMANDS: Readonly<Record<'firewalld' | 'ufw', Commands>> = {
  ufw: {
    open: (ports) => ports.map((each) => `ufw allow ${each}/tcp`).join(' && '),
    close: (port) => `ufw delete allow ${port}/tcp`,
  },
  firewalld: {
    open: (ports) =>
      `firewall-cmd --permanent ${ports.map((each) => `--add-port=${each}/tcp`).join(' ')} && firewall-cmd --reload`,
    close: (port) => `firewall-cmd --permanent --remove-port=${port}/tcp && firewall-cmd --reload`,
  },
};

function checkManaged(
  inspection: Inspection,
  tool: 'firewalld' | 'ufw',
  openPorts: readonly number[],
): Finding {
  const port = findAgentPort(inspection);
  const needed = listNeededPorts(inspection);
  const closed = needed.filter((each) => !openPorts.includes(each));
  if (closed.length > 0) {
    return problem('firewall', {
      symptom: 'Connections from outside time out, or the validation of the domain fails.',
      cause: `${tool} blocks port ${formatList(closed.map(String))}.`,
      fix: COMMANDS[tool].open(closed),
    });
  }
  const exposed = [...openPorts, ...(inspection.firewall.permanentPorts ?? [])];
  if (inspection.installed?.mode === 'proxy' && exposed.includes(port)) {
    return warning('firewall', {
      symptom: `Port ${port} is open, though the agent is reached through the proxy.`,
      cause: `${tool} allows port ${port}, which no viewer uses.`,
      fix: COMMANDS[tool].close(port),
    });
  }
  return ok('firewall', `${tool} allows port ${formatList(needed.map(String))}.`);
}

/** Reports the needed ports in which the runtime configuration of firewalld differs from the permanent one; null without any. */
function checkReload(inspection: Inspection): Finding | null {
  const { openPorts, permanentPorts = [] } = inspection.firewall;
  const needed = listNeededPorts(inspection);
  const isOpen = (port: number) => openPorts?.includes(port) === true;
  const lost = needed.filter((each) => isOpen(each) && !permanentPorts.includes(each));
  const unloaded = needed.filter((each) => !isOpen(each) && permanentPorts.includes(each));
  if (needed.some((each) => !isOpen(each) && !permanentPorts.includes(each))) return null;
  if (unloaded.length > 0) {
    return problem('firewall', {
      symptom: 'Connections from outside time out, or the validation of the domain fails.',
      cause: `firewalld blocks port ${formatList(unloaded.map(String))} until it is reloaded: only its permanent configuration allows it.`,
      fix: 'firewall-cmd --reload',
    });
  }
  if (lost.length === 0) return null;
  const added = lost.map((each) => `--add-port=${each}/tcp`).join(' ');
  return warning('firewall', {
    symptom: 'After the next boot, connections from outside will time out.',
    cause: `firewalld allows port ${formatList(lost.map(String))} until it is reloaded: its permanent configuration does not.`,
    fix: `firewall-cmd --permanent ${added}`,
  });
}

/** Only a warning: a source address or interface may be allowed on every port. */
function checkRules(
  inspection: Inspection,
  tool: 'iptables' | 'nftables',
  namedPorts: readonly number[],
): Finding {
  const needed = listNeededPorts(inspection);
  const closed = needed.filter((each) => !namedPorts.includes(each));
  if (closed.length === 0)
    return ok('firewall', `${tool} has rules for port ${needed.join(', ')}.`);
  return warning('firewall', {
    symptom: 'Connections from outside may time out, and the validation of the domain fail.',
    cause: `No rule of ${tool} names port ${closed.join(', ')}, and everything that no rule allows is refused.`,
    fix: `Unless another rule allows it: ${RULES[tool](closed)}`,
  });
}

/** How an administrator adds a rule that outlasts a boot. */
const RULES: Readonly<Record<'iptables' | 'nftables', (ports: readonly number[]) => string>> = {
  nftables: (ports) =>
    `latchkey-agent install --open-firewall; or add "tcp dport { ${ports.join(', ')} } accept" to the input chain in /etc/nftables.conf, then: systemctl reload nftables`,
  iptables(ports) {
    const rule = `INPUT -p tcp -m multiport --dports ${ports.join(',')} -j ACCEPT`;
    return `iptables -I ${rule} && ip6tables -I ${rule}; then keep it: netfilter-persistent save on Debian, service iptables save on Red Hat`;
  },
};

/** Returns the ports that viewers and authorities connect to. */
export function listNeededPorts(inspection: Inspection): readonly number[] {
  const { installed, renewal } = inspection;
  const isGiven = (installed?.certificateFiles ?? null) !== null;
  const isIssuedThere = !isGiven && renewal !== null && !renewal.authenticator.startsWith('dns');
  return [
    ...(isIssuedThere ? [HTTP_PORT] : []),
    installed?.mode === 'proxy' ? HTTPS_PORT : findAgentPort(inspection),
  ];
}

export function formatList(items: readonly string[]): string {
  return items.length === 0 ? 'none' : items.join(', ');
}
