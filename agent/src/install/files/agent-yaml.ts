import type { InstallMode } from '../facts.ts';
import { AGENT_PORT, paths } from '../paths.ts';

/** What an installation settles in the agent's configuration. */
export interface AgentYamlOptions {
  readonly domain: string;
  readonly mode: InstallMode;
  readonly mutualTls: boolean;
  readonly intervalSeconds: number;
  /** Whether viewers come by IPv6 alone: without a proxy the agent must then listen there. */
  readonly isIpv6Only: boolean;
}

const LISTEN: Readonly<Record<InstallMode | 'standalone by IPv6', string>> = {
  'standalone by IPv6': `# Where viewers connect: all addresses of IPv6, and of IPv4 as well.
listen: "[::]:${AGENT_PORT}"`,
  standalone: `# Where viewers connect; "[::]:${AGENT_PORT}" is all addresses of IPv6 as well.
listen: 0.0.0.0:${AGENT_PORT}`,
  proxy: `# Where the reverse proxy on this machine connects. Viewers come through it, and this port is not open to them.
listen: 127.0.0.1:${AGENT_PORT}`,
};

const TLS: Readonly<Record<InstallMode, string>> = {
  standalone: '# TLS 1.2 and 1.3. The files are replaced at each renewal.',
  proxy:
    '# TLS 1.2 and 1.3 between the proxy and the agent. Viewers see the certificate of the proxy.',
};

const CERTIFICATES: Readonly<Record<InstallMode, string>> = {
  standalone: '# Mutual TLS: viewers show a certificate that latchkey-agent client-cert has made.',
  proxy:
    '# Mutual TLS: the proxy shows a certificate of its own, and asks viewers for one that latchkey-agent client-cert has made.',
};

/** The agent's configuration, with what may be changed in it. */
export function renderAgentYaml(options: AgentYamlOptions): string {
  const { domain, mode, intervalSeconds, isIpv6Only } = options;
  const way = mode === 'standalone' && isIpv6Only ? 'standalone by IPv6' : mode;
  return `# The configuration of the Latchkey agent, written by latchkey-agent install, in ${mode} mode for ${domain}.
# Change it as you like: it stays as it is when the same is installed again. latchkey-agent validate checks it;
# systemctl restart latchkey-agent puts it into force. Every setting is explained in
# ${paths.program}/agent.example.yaml

${LISTEN[way]}

# Seconds between two snapshots, 1 to 60; 5 for less load.
interval_seconds: ${intervalSeconds}

${TLS[mode]}
tls:
  certificate_file: ${paths.certificate}
  key_file: ${paths.certificateKey}
  server_name: ${domain}

viewers:
${renderViewers(options)}
  # A file with access tokens, one in each line: a viewer without a certificate then needs one.
  tokens_file: null
  # Pages of other origins that may watch, such as https://console.example.com; "*" is all.
  allowed_origins: []
`;
}

function renderViewers({ mode, mutualTls }: AgentYamlOptions): string {
  if (!mutualTls) {
    return `  # Mutual TLS: off or required. Install again with --mtls for an authority and all that belongs to it.
  certificates: off`;
  }
  return `  ${CERTIFICATES[mode]}
  certificates: required
  authority_file: ${paths.authorityCertificate}
  revocation_file: ${paths.revocations}`;
}
