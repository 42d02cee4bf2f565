import { type Finding, ok, skipped, warning } from '../finding.ts';
import type { Look } from '../look/look.ts';

/** Checks that viewers are restricted: without certificates and tokens, anyone may watch. */
export function checkViewers({ configuration }: Pick<Look, 'configuration'>): Finding {
  if (configuration.kind === 'wrong') return skipped('viewers', 'Who may watch is not known.');
  const { tls, tokensFile } = configuration.config;
  if (tls.clients !== null) return ok('viewers', 'Viewers need a client certificate.');
  if (tokensFile !== null) return ok('viewers', 'Viewers need an access token.');
  return warning('viewers', {
    symptom: 'Anybody who reaches the address can watch this machine.',
    cause: `${configuration.path} requires neither client certificates nor access tokens.`,
    fix: 'Require certificates: latchkey-agent install --mtls; or set viewers.tokens_file to a file of access tokens, then: systemctl restart latchkey-agent',
  });
}
