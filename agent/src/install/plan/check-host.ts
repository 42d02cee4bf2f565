import type { HostFacts, InstallMode, Listener, SelinuxFacts } from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import { agentUnit, paths } from '../paths.ts';

/** Lists the blockers of an installation in every mode: sentences, each with its fix. */
export function listBlockers(facts: HostFacts): readonly string[] {
  if (!facts.isRoot) return ['Only root can install: run it with sudo, or as root.'];
  if (!facts.hasSystemd) {
    return [
      'systemd is not running, and the agent is one of its services: install on a machine that was booted with systemd.',
    ];
  }
  const { name } = facts.distribution;
  return [
    ...facts.faults,
    ...(facts.packageDirectory === null
      ? [
          'This program was not started from its package, so there is nothing to install: unpack the package, and run bin/latchkey-agent install in it.',
        ]
      : []),
    ...(facts.hasOpenssl || facts.hasApt ? [] : [explainPackage('openssl', name)]),
    ...(facts.givenCertificateFault === null ? [] : [facts.givenCertificateFault]),
  ];
}

/** Explains that a package is needed on a distribution without apt. */
export function explainPackage(program: string, distribution: string): string {
  const where = distribution === '' ? 'an unknown distribution' : distribution;
  return `${program} is not installed, and this program installs packages on Debian and Ubuntu only (this is ${where}): install ${program} and run this again.`;
}

/** Returns a sentence with the fix when another program listens on the agent's port; otherwise null. */
export function findPortBlocker({ listeners }: HostFacts, agentPort: number): string | null {
  const foreign = listeners.find(
    ({ port, process }) => port === agentPort && process?.unit !== agentUnit,
  );
  if (foreign === undefined) return null;
  return `Port ${agentPort}, which the agent needs, is used by ${describeListener(foreign)}: ${describeStop(foreign)} and run this again.`;
}

/** Notes that a change of domain or mode undoes steps. */
export function listChangeNotes(
  options: InstallOptions,
  mode: InstallMode,
  { installed }: HostFacts,
): readonly string[] {
  if (installed === null) return [];
  const changes = [
    ...(installed.domain === options.domain
      ? []
      : [`from ${installed.domain} to ${options.domain}`]),
    ...(installed.mode === mode ? [] : [`from ${installed.mode} to ${mode} mode`]),
  ];
  if (changes.length === 0) return [];
  return [
    `The agent moves ${changes.join(' and ')}: steps that only the earlier installation needed are undone.`,
  ];
}

/** Names the process of a listener: `apache2 (process 712, apache2.service)`. */
export function describeListener({ process }: Listener): string {
  if (process === null) return 'a program that is not visible here';
  const { pid, name, unit } = process;
  return `${name} (process ${pid}${unit === null ? '' : `, ${unit}`})`;
}

/** Describes how to stop a listener, for the end of a sentence. */
export function describeStop({ process }: Listener): string {
  const unit = process?.unit ?? null;
  return unit === null ? 'stop it' : `stop it (systemctl stop ${unit})`;
}

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

/** Explains why SELinux blocks an installation, with the commands that allow it. */
export function explainSelinux(denied: string, commands: readonly string[]): string {
  return `SELinux is enforced here, and forbids a web server to ${denied}: run ${commands.join(' && ')} and this again.`;
}
