import { dirname } from 'node:path';

import type { InstallMode } from '../facts.ts';
import { agentUnit, agentUser, paths } from '../paths.ts';

/** Deploys a renewed certificate: copies it for the agent, which cannot read certbot's files; or reloads nginx. */
const DEPLOYMENT: Readonly<Record<InstallMode, string>> = {
  standalone: `# The agent's user cannot read certbot's files. Both copies are complete before the first one is replaced.
tls='${dirname(paths.certificate)}'
for name in privkey fullchain; do
  install -o root -g ${agentUser} -m 0640 "$lineage/$name.pem" "$tls/.$name.pem.new"
done
for name in privkey fullchain; do
  mv -f "$tls/.$name.pem.new" "$tls/$name.pem"
done

# The agent reports whether it uses them, and certbot prints the report.
if systemctl is-active --quiet ${agentUnit}; then
  systemctl reload ${agentUnit}
fi
`,
  proxy: `# nginx reads its certificates only at a start or reload.
if systemctl is-active --quiet nginx.service; then
  systemctl reload nginx.service
elif [ -s /run/nginx.pid ]; then
  nginx -s reload
fi
`,
};

/**
 * Renders the deploy hook of certbot (POSIX sh).
 * @param lineage certbot's directory of our certificate
 */
export function renderRenewalHook(mode: InstallMode, lineage: string): string {
  return `#!/bin/sh
# Written by latchkey-agent install: certbot runs this after each renewal of any certificate.
set -eu

lineage='${lineage}'
[ "\${RENEWED_LINEAGE:-}" = "$lineage" ] || exit 0

${DEPLOYMENT[mode]}`;
}
