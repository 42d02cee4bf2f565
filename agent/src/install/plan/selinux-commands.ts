import type { SelinuxFacts } from '../facts.ts';
import { paths } from '../paths.ts';

/** The commands by which SELinux lets a web server reach the agent and answer challenges; none where it does. */
export function listSelinuxCommands(selinux: SelinuxFacts | null): readonly string[] {
  if (selinux === null) return [];
  const { webServerMayConnect, webServerMayReadChallenges } = selinux;
  return [
    ...(webServerMayConnect ? [] : ['setsebool -P httpd_can_network_connect 1']),
    ...(webServerMayReadChallenges
      ? []
      : [`semanage fcontext -a -t httpd_sys_content_t '${paths.challenges}(/.*)?'`]),
  ];
}
