import type { AgentConfig } from '../../config/config.ts';
import type { InstalledFacts } from '../facts.ts';
import { paths } from '../paths.ts';

/** Returns the address of the stream and the live page, without `wss://` and `https://`. */
export function formatAddress(
  { mode, domain, proxyPath }: Pick<InstalledFacts, 'domain' | 'mode' | 'proxyPath'>,
  agentPort: number,
): string {
  return mode === 'proxy' ? `${domain}${proxyPath}` : `${domain}:${agentPort}`;
}

/** The credential that viewers need. */
export type Admission = 'none' | 'certificates' | 'tokens';

const ADMISSION: Readonly<Record<Admission, string>> = {
  none: 'ANYONE who reaches this address. To restrict it: latchkey-agent install --mtls',
  certificates: 'viewers with a client certificate',
  tokens: 'viewers with an access token',
};

/** Returns the credential that viewers need with a configuration. */
export function findAdmission({ tls, tokensFile }: AgentConfig): Admission {
  if (tls.clients !== null) return 'certificates';
  return tokensFile === null ? 'none' : 'tokens';
}

/** Returns the last lines of an installation's output. */
export function listNextSteps(
  installed: InstalledFacts,
  agentPort: number,
  admission: Admission,
): string[] {
  const place = formatAddress(installed, agentPort);
  return [
    `Viewers connect to   wss://${place}`,
    `The live page is at  https://${place}/`,
    `Who may watch        ${ADMISSION[admission]}`,
    `The configuration is ${paths.configuration}`,
    `The agent logs to    journalctl --unit latchkey-agent`,
    ...(installed.mutualTls
      ? ['Each viewer needs a certificate of its own: latchkey-agent client-cert create NAME']
      : []),
    'To find problems     latchkey-agent doctor',
  ];
}
