import { isIPv6 } from 'node:net';

import { type Finding, ok, problem, skipped, warning } from '../finding.ts';
import type { Look } from '../look/look.ts';

/** Addresses that only a local network knows: behind a router, the name leads to the router's. */
const PRIVATE =
  /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|f[cd])/u;

/** The domain leads to this machine, or the authority's challenges go elsewhere. */
export function checkDomain({ domain }: Look): Finding {
  if (domain === null) return skipped('domain', 'No domain was given at the installation.');
  const { name, addresses, ownAddresses } = domain;
  const symptom = 'The validation of the domain fails, and viewers reach another machine.';
  if (addresses.length === 0) {
    return problem('domain', {
      symptom,
      cause: `${name} leads nowhere: the DNS has no address for it.`,
      fix: `Add a record for ${name} with the address of this machine (${list(ownAddresses)}).`,
    });
  }
  const strange = addresses.filter((each) => !ownAddresses.includes(each));
  if (strange.length === 0) return ok('domain', `${name} leads to this machine.`);
  const isBehindRouter = ownAddresses.every((each) => PRIVATE.test(each) || isIPv6(each));
  const cause = `${name} leads to ${list(strange)}, and this machine has ${list(ownAddresses)}.`;
  if (isBehindRouter) {
    const fix = 'Make sure that the router forwards ports 80, 443 and 4096 to this machine.';
    return warning('domain', { symptom, cause, fix });
  }
  return problem('domain', { symptom, cause, fix: `Correct the records of ${name} in the DNS.` });
}

/** The ports that the mode needs are open. */
export function checkFirewall({ firewall, configuration, installed }: Look): Finding {
  const { tool, openPorts } = firewall;
  if (tool === 'none') return ok('firewall', 'No firewall of this machine refuses anything.');
  const port = configuration.kind === 'read' ? configuration.config.listen.port : 4096;
  // A certificate that was given is not issued through port 80.
  const forIssue = (installed?.certificateFiles ?? null) === null ? [80] : [];
  const needed = [...forIssue, installed?.mode === 'proxy' ? 443 : port];
  if (openPorts === null) {
    return skipped(
      'firewall',
      `nftables refuses some connections: see to it that ${list(needed.map(String))} are open.`,
    );
  }
  const closed = needed.filter((each) => !openPorts.includes(each));
  if (closed.length > 0) {
    return problem('firewall', {
      symptom: 'Connections from outside time out, or the validation of the domain fails.',
      cause: `${tool} does not let in port ${list(closed.map(String))}.`,
      fix: closed.map((each) => `ufw allow ${each}/tcp`).join(' && '),
    });
  }
  if (installed?.mode === 'proxy' && openPorts.includes(port)) {
    return warning('firewall', {
      symptom: `Port ${port} is open, though the agent is reached through the proxy.`,
      cause: `${tool} lets in port ${port}, which nobody outside needs.`,
      fix: `ufw delete allow ${port}/tcp`,
    });
  }
  return ok('firewall', `${tool} lets in port ${list(needed.map(String))}.`);
}

function list(items: readonly string[]): string {
  return items.length === 0 ? 'none' : items.join(', ');
}
