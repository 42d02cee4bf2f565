import { isIPv4, isIPv6 } from 'node:net';

import type { Listener } from '../../install/facts.ts';
import { agentUnit } from '../../install/paths.ts';
import { type Finding, ok, problem, skipped } from '../finding.ts';
import type { Inspection } from '../inspect/inspection.ts';

const HTTP_PORT = 80;

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1']);

/** Checks that no other program uses the agent's port, nor port 80 where certbot answers challenges itself. */
export function checkPorts(inspection: Inspection): Finding {
  const { configuration, listeners, renewal } = inspection;
  if (configuration.kind === 'invalid') return skipped('ports', 'The port is unknown.');
  const { port } = configuration.config.listen;
  const other = listeners.find((each) => each.port === port && !isAgent(inspection, each));
  if (other !== undefined) {
    return problem('ports', {
      symptom: `The agent does not start: port ${port} is in use.`,
      cause: `${describe(other)} listens on ${other.address}:${port}.`,
      fix: `Stop ${stop(other)}, or change the port of the agent: listen in ${configuration.path}. Then: systemctl restart ${agentUnit}`,
    });
  }
  const web = listeners.find((each) => each.port === HTTP_PORT);
  if (renewal?.authenticator === 'standalone' && web !== undefined) {
    return problem('ports', {
      symptom: 'The certificate is not renewed: certbot cannot bind to port 80.',
      cause: `${describe(web)} listens on port 80, which certbot itself needs, because ${renewal.name} was issued with --standalone.`,
      fix: `Stop ${stop(web)}, or install again, so that it answers the challenges: latchkey-agent install --email ADDRESS`,
    });
  }
  return ok('ports', `No other program uses port ${port}.`);
}

/** Checks that the agent listens on every address, or on loopback only behind a proxy. */
export function checkBindAddress({ configuration, installed, domain }: Inspection): Finding {
  if (configuration.kind === 'invalid') return skipped('bind_address', 'The address is unknown.');
  if (installed === null)
    return skipped('bind_address', 'The agent was not installed by its installer.');
  const { host, port } = configuration.config.listen;
  const isLocal = LOOPBACK.has(host);
  const change = (to: string): string =>
    `Set listen: ${to} in ${configuration.path}, then: systemctl restart ${agentUnit}`;
  if (installed.mode === 'standalone' && isLocal) {
    return problem('bind_address', {
      symptom: 'The agent cannot be reached from the internet.',
      cause: `It was installed in standalone mode, and listens on ${host} only.`,
      fix: `${change(`0.0.0.0:${port}`)}; and open port ${port} in the firewall.`,
    });
  }
  if (installed.mode === 'standalone' && isIPv4(host) && isIpv6Only(domain)) {
    return problem('bind_address', {
      symptom: 'The agent cannot be reached from the internet.',
      cause: `${installed.domain} resolves to IPv6 addresses only, and the agent listens on ${host}.`,
      fix: change(`"[::]:${port}"`),
    });
  }
  if (installed.mode === 'proxy' && !isLocal) {
    return problem('bind_address', {
      symptom: `Port ${port} is exposed, though the agent is behind a proxy.`,
      cause: `The agent listens on ${host}, so that anyone can bypass the proxy.`,
      fix: `${change(`127.0.0.1:${port}`)}; and close port ${port} in the firewall.`,
    });
  }
  return ok('bind_address', `It listens on ${host}, as ${installed.mode} mode requires.`);
}

function isIpv6Only(domain: Inspection['domain']): boolean {
  const addresses = domain?.addresses ?? [];
  return addresses.length > 0 && addresses.every(isIPv6);
}

/** Whether a listener is the agent: by its unit; an invisible process is the agent when it answers as the agent does. */
function isAgent({ agentFault }: Inspection, { process }: Listener): boolean {
  return process === null ? agentFault === null : process.unit === agentUnit || agentFault === null;
}

function describe({ process }: Listener): string {
  return process === null ? 'Another program' : `${process.name} (pid ${process.pid})`;
}

function stop({ process }: Listener): string {
  return process?.unit === null || process === null ? 'it' : `it (systemctl stop ${process.unit})`;
}
