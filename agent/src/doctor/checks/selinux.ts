import { listSelinuxCommands } from '../../install/plan/selinux-commands.ts';
import { paths } from '../../install/paths.ts';
import { type Finding, ok, problem } from '../finding.ts';
import type { Look } from '../look/look.ts';

/** Where SELinux is enforced, a proxy needs leave to reach the agent and to answer challenges. */
export function checkSelinux({ selinux, installed }: Look): Finding {
  if (selinux === null) return ok('selinux', 'SELinux is not enforced.');
  if (installed?.mode !== 'proxy')
    return ok('selinux', 'Without a proxy, nothing is needed of it.');
  const commands = listSelinuxCommands(selinux);
  if (commands.length === 0) return ok('selinux', 'SELinux lets the proxy reach the agent.');
  return problem('selinux', {
    symptom: 'The route answers 502 or 503, or the certificate is not renewed.',
    cause: 'SELinux is enforced, and forbids the proxy what it needs.',
    fix: `${commands.join(' && ')} && restorecon -R ${paths.challenges} /etc/latchkey-agent`,
  });
}
