import { mayBeBehindNat } from '../../install/plan/check-addresses.ts';
import { type Finding, ok, problem, skipped, warning } from '../finding.ts';
import type { Inspection } from '../inspect/inspection.ts';
import { findAgentPort } from './agent.ts';

const HTTP_PORT = 80;
const HTTPS_PORT = 443;

/** The domain leads to this machine, or the authority's challenges go elsewhere. */
export function checkDomain(inspection: Inspection): Finding {
  const { domain } = inspection;
  if (domain === null) return skipped('domain', 'No domain was given at the installation.');
  const { name, addresses, resolverFault, ownAddresses } = domain;
  const symptom = 'The validation of the domain fails, and viewers reach another machine.';
  if (addresses.length === 0 && resolverFault !== null) {
    return problem('domain', {
      symptom: 'This machine finds no names: no certificate is renewed.',
      cause: `The name servers do not answer for ${name} (${resolverFault}).`,
      fix: 'Correct /etc/resolv.conf or the service behind it (resolvectl status).',
    });
  }
  if (addresses.length === 0) {
    return problem('domain', {
      symptom,
      cause: `${name} leads nowhere: the DNS has no address for it.`,
      fix: `Add a record for ${name} with the address of this machine (${list(ownAddresses)}).`,
    });
  }
  // An address that is handed on to this machine is none of its own, and yet is answered by it.
  const answered = inspection.challenges.filter(({ isOurs }) => isOurs === true);
  const reached = new Set([...ownAddresses, ...answered.map(({ address }) => address)]);
  const strange = addresses.filter((each) => !reached.has(each));
  if (strange.length === 0) return ok('domain', `${name} leads to this machine.`);
  const isAccepted = inspection.installed?.skipsDnsCheck === true;
  const accepted = isAccepted
    ? '; the installation was told to accept that (--skip-dns-check)'
    : '';
  const cause = `${name} leads to ${list(strange)}, and this machine has ${list(ownAddresses)}${accepted}.`;
  if (isAccepted || strange.some((each) => mayBeBehindNat(each, ownAddresses))) {
    const ports = list(listNeeded(inspection).map(String));
    const fix = `Make sure that the router forwards to this machine what comes to port ${ports}.`;
    return warning('domain', { symptom, cause, fix });
  }
  return problem('domain', { symptom, cause, fix: `Correct the records of ${name} in the DNS.` });
}

/** The ports that the mode needs are open. */
export function checkFirewall(inspection: Inspection): Finding {
  const { tool, openPorts } = inspection.firewall;
  if (tool === 'none') return ok('firewall', 'No firewall of this machine refuses anything.');
  if (openPorts !== null) {
    if (tool === 'nft') return checkNftables(inspection, openPorts);
    if (tool === 'iptables') return checkIptables(inspection, openPorts);
    return (
      (tool === 'firewalld' && checkReload(inspection)) || checkManaged(inspection, tool, openPorts)
    );
  }
  const needed = list(listNeeded(inspection).map(String));
  const says = `${tool === 'nft' ? 'nftables' : tool} refuses some connections: see to it that ${needed} are open.`;
  return skipped('firewall', says);
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
  const needed = listNeeded(inspection);
  const closed = needed.filter((each) => !openPorts.includes(each));
  if (closed.length > 0) {
    return problem('firewall', {
      symptom: 'Connections from outside time out, or the validation of the domain fails.',
      cause: `${tool} does not let in port ${list(closed.map(String))}.`,
      fix: COMMANDS[tool].open(closed),
    });
  }
  const exposed = [...openPorts, ...(inspection.firewall.permanentPorts ?? [])];
  if (inspection.installed?.mode === 'proxy' && exposed.includes(port)) {
    return warning('firewall', {
      symptom: `Port ${port} is open, though the agent is reached through the proxy.`,
      cause: `${tool} lets in port ${port}, which nobody outside needs.`,
      fix: COMMANDS[tool].close(port),
    });
  }
  return ok('firewall', `${tool} lets in port ${list(needed.map(String))}.`);
}

/** Reports the needed ports in which the runtime configuration of firewalld differs from the permanent one; null without any. */
function checkReload(inspection: Inspection): Finding | null {
  const { openPorts, permanentPorts = [] } = inspection.firewall;
  const needed = listNeeded(inspection);
  const isOpen = (port: number) => openPorts?.includes(port) === true;
  const lost = needed.filter((each) => isOpen(each) && !permanentPorts.includes(each));
  const unloaded = needed.filter((each) => !isOpen(each) && permanentPorts.includes(each));
  if (needed.some((each) => !isOpen(each) && !permanentPorts.includes(each))) return null;
  if (unloaded.length > 0) {
    return problem('firewall', {
      symptom: 'Connections from outside time out, or the validation of the domain fails.',
      cause: `firewalld does not let in port ${list(unloaded.map(String))} before it is reloaded: only its permanent configuration does.`,
      fix: 'firewall-cmd --reload',
    });
  }
  if (lost.length === 0) return null;
  const added = lost.map((each) => `--add-port=${each}/tcp`).join(' ');
  return warning('firewall', {
    symptom: 'After the next start of the machine, connections from outside will time out.',
    cause: `firewalld lets in port ${list(lost.map(String))} until it is reloaded: its permanent configuration does not.`,
    fix: `firewall-cmd --permanent ${added}`,
  });
}

/** Only a warning: what is let in by its address or its interface is let in on every port. */
function checkNftables(inspection: Inspection, namedPorts: readonly number[]): Finding {
  const needed = listNeeded(inspection);
  const closed = needed.filter((each) => !namedPorts.includes(each)).join(', ');
  if (closed === '') return ok('firewall', `nftables has rules for port ${needed.join(', ')}.`);
  return warning('firewall', {
    symptom: 'Connections from outside may time out, and the validation of the domain fail.',
    cause: `No rule of nftables names port ${closed}, and what no rule lets in is refused.`,
    fix: `Unless it is let in otherwise: latchkey-agent install --open-firewall; or add "tcp dport { ${closed} } accept" to the input chain in /etc/nftables.conf, then: systemctl reload nftables`,
  });
}

/** Only a warning, as for nftables. */
function checkIptables(inspection: Inspection, namedPorts: readonly number[]): Finding {
  const needed = listNeeded(inspection);
  const closed = needed.filter((each) => !namedPorts.includes(each)).join(',');
  if (closed === '') return ok('firewall', `iptables has rules for port ${needed.join(', ')}.`);
  const rule = `INPUT -p tcp -m multiport --dports ${closed} -j ACCEPT`;
  return warning('firewall', {
    symptom: 'Connections from outside may time out, and the validation of the domain fail.',
    cause: `No rule of iptables names port ${closed}, and what no rule lets in is refused.`,
    fix: `Unless it is let in otherwise: iptables -I ${rule} && ip6tables -I ${rule}; then keep it: netfilter-persistent save on Debian, service iptables save on Red Hat`,
  });
}

/** The ports that must be reached: by viewers, and by an authority that looks whose the domain is. */
function listNeeded(inspection: Inspection): readonly number[] {
  const { installed, renewal } = inspection;
  const isGiven = (installed?.certificateFiles ?? null) !== null;
  const isIssuedThere = !isGiven && renewal !== null && !renewal.authenticator.startsWith('dns');
  return [
    ...(isIssuedThere ? [HTTP_PORT] : []),
    installed?.mode === 'proxy' ? HTTPS_PORT : findAgentPort(inspection),
  ];
}

function list(items: readonly string[]): string {
  return items.length === 0 ? 'none' : items.join(', ');
}
