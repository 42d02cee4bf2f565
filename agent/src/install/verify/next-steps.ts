import type { InstalledFacts } from '../facts.ts';
import { AGENT_PORT, paths } from '../paths.ts';

/** What is good to know once it is installed, line by line. */
export function listNextSteps({ mode, domain, proxyPath, mutualTls }: InstalledFacts): string[] {
  const place = mode === 'proxy' ? `${domain}${proxyPath}` : `${domain}:${AGENT_PORT}`;
  return [
    `Viewers connect to   wss://${place}`,
    `The live page is at  https://${place}/`,
    `The configuration is ${paths.configuration}`,
    `What the agent says  journalctl --unit latchkey-agent`,
    ...(mutualTls
      ? ['Each viewer needs a certificate of its own: latchkey-agent client-cert create NAME']
      : []),
    'Trouble is found by  latchkey-agent doctor',
  ];
}
