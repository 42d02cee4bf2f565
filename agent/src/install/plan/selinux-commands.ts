import type { SelinuxFacts } from '../facts.ts';
import { paths } from '../paths.ts';

/** Returns the commands that allow a web server to reach the agent and answer challenges; none where SELinux allows both. */
export function listSelinuxCommands(selinux: SelinuxFacts | null): readonly string[] {
  const isConnectDenied = selinux !== null && !selinux.webServerMayConnect;
  return [
    ...(isConnectDenied ? ['setsebool -P httpd_can_network_connect 1'] : []),
    ...listChallengeCommands(selinux),
  ];
}

/** Returns the command that allows a web server to read the answers to challenges; none where SELinux allows it. */
export function listChallengeCommands(selinux: SelinuxFacts | null): readonly string[] {
  if (selinux === null || selinux.webServerMayReadChallenges) return [];
  return [`semanage fcontext -a -t httpd_sys_content_t '${paths.challenges}(/.*)?'`];
}

/** Says why SELinux blocks an installation, with the commands that allow what it needs. */
export function explainSelinux(denied: string, commands: readonly string[]): string {
  return `SELinux is enforced here, and forbids a web server to ${denied}: run ${commands.join(' && ')} and this again.`;
}
