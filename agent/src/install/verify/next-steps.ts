import type { AgentConfig } from '../../config/config.ts';
import type { InstalledFacts } from '../facts.ts';
import { paths } from '../paths.ts';

/** Where viewers connect: the address of the stream and of the live page, without `wss://` and `https://`. */
export function findPlace(
  { mode, domain, proxyPath }: Pick<InstalledFacts, 'domain' | 'mode' | 'proxyPath'>,
  agentPort: number,
): string {
  return mode === 'proxy' ? `${domain}${proxyPath}` : `${domain}:${agentPort}`;
}

/** What the agent asks of viewers. */
export type Admission = 'anybody' | 'certificates' | 'tokens';

const ADMISSION: Readonly<Record<Admission, string>> = {
  anybody: 'ANYBODY who reaches this address. To close it: latchkey-agent install --mtls',
  certificates: 'viewers with a client certificate',
  tokens: 'viewers with an access token',
};

/** What the agent asks of viewers, by its configuration. */
export function findAdmission({ tls, tokensFile }: AgentConfig): Admission {
  if (tls.clients !== null) return 'certificates';
  return tokensFile === null ? 'anybody' : 'tokens';
}

/** What is good to know once it is installed, line by line. */
export function listNextSteps(
  installed: InstalledFacts,
  agentPort: number,
  admission: Admission,
): string[] {
  const place = findPlace(installed, agentPort);
  return [
    `Viewers connect to   wss://${place}`,
    `The live page is at  https://${place}/`,
    `Who may watch        ${ADMISSION[admission]}`,
    `The configuration is ${paths.configuration}`,
    `What the agent says  journalctl --unit latchkey-agent`,
    ...(installed.mutualTls
      ? ['Each viewer needs a certificate of its own: latchkey-agent client-cert create NAME']
      : []),
    'Trouble is found by  latchkey-agent doctor',
  ];
}
