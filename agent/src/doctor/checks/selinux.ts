import { listChallengeCommands, listSelinuxCommands } from '../../install/plan/check-host.ts';
import { paths } from '../../install/paths.ts';
import { type Finding, ok, problem } from '../finding.ts';
import type { Inspection } from '../inspect/inspection.ts';

/** Checks that SELinux, where it is enforced, allows the web server to reach the agent and to answer challenges. */
export function checkSelinux({ selinux, installed, renewal }: Inspection): Finding {
  if (selinux === null) return ok('selinux', 'SELinux is not enforced.');
  const isProxied = installed?.mode === 'proxy';
  if (!isProxied && renewal?.webroots.includes(paths.challenges) !== true)
    return ok('selinux', 'Without a proxy, no permission is needed.');
  const commands = isProxied ? listSelinuxCommands(selinux) : listChallengeCommands(selinux);
  if (commands.length === 0) return ok('selinux', 'SELinux lets the proxy reach the agent.');
  return problem('selinux', {
    symptom: 'The route answers 502 or 503, or the certificate is not renewed.',
    cause: 'SELinux is enforced, and denies the proxy what it needs.',
    fix: `${commands.join(' && ')} && restorecon -R ${paths.challenges} /etc/latchkey-agent`,
  });
}
