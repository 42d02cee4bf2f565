import { agentUnit, agentUser } from '../../install/paths.ts';
import type { HostFacts } from '../../install/facts.ts';
import type { RunProgram } from '../../system/run-program.ts';
import type { FirewallStatus, UnitStatus } from './inspection.ts';
import { listNamedPorts } from './nft-ports.ts';

/** Returns the status of the agent's unit; null where systemd does not answer. */
export async function inspectUnit(runProgram: RunProgram): Promise<UnitStatus | null> {
  const names = 'LoadState,ActiveState,Result,UnitFileState';
  const { code, stdout } = await runProgram('systemctl', ['show', agentUnit, `-p${names}`]);
  if (code !== 0) return null;
  const values = new Map(stdout.split('\n').map((line) => splitOnce(line)));
  return {
    isLoaded: values.get('LoadState') === 'loaded',
    activeState: values.get('ActiveState') ?? '',
    result: values.get('Result') ?? '',
    isEnabled: values.get('UnitFileState') === 'enabled',
  };
}

/** Whether a unit is active. */
export async function isUnitActive(runProgram: RunProgram, unit: string): Promise<boolean> {
  const { code } = await runProgram('systemctl', ['is-active', '--quiet', unit]);
  return code === 0;
}

/** Returns the files that the agent's user may not read; only root can check this, otherwise none. */
export async function listUnreadable(
  runProgram: RunProgram,
  files: readonly string[],
): Promise<string[]> {
  const exists = await runProgram('id', ['-u', agentUser]);
  if (exists.code !== 0) return [];
  const results = await Promise.all(
    files.map(async (file) => {
      const args = ['-u', agentUser, '--', 'test', '-r', file];
      return { file, code: (await runProgram('runuser', args)).code };
    }),
  );
  // Exit code 1 is from test(1), not from runuser(1).
  return process.getuid?.() === 0
    ? results.filter(({ code }) => code === 1).map(({ file }) => file)
    : [];
}

/**
 * Returns the ports that are open to every source.
 * @param ports the ports to check
 */
export async function inspectFirewall(
  runProgram: RunProgram,
  tool: HostFacts['firewall'],
  ports: readonly number[],
): Promise<FirewallStatus> {
  if (tool === 'nft') return { tool, openPorts: await listNamedPorts(runProgram, ports) };
  if (tool === 'none') return { tool, openPorts: null };
  if (tool === 'firewalld') return inspectFirewalld(runProgram, ports);
  if (tool === 'iptables') return { tool, openPorts: await listIptablesPorts(runProgram) };
  const { stdout } = await runProgram('ufw', ['status']);
  const lines = stdout.matchAll(/^(\d[\d,]*)(?:\/tcp)? +ALLOW(?: IN)? +Anywhere/gmu);
  const openPorts = [...lines].flatMap(([, named = '']) => named.split(',').map(Number));
  return { tool, openPorts };
}

/** firewalld names some ports by their service. */
const SERVICES: ReadonlyMap<number, string> = new Map([
  [80, 'http'],
  [443, 'https'],
]);

/** Reads both configurations of firewalld: the runtime one, and the permanent one that replaces it at a reload. */
async function inspectFirewalld(
  runProgram: RunProgram,
  ports: readonly number[],
): Promise<FirewallStatus> {
  const [runtime, permanent] = await Promise.all([
    runProgram('firewall-cmd', ['--list-all']),
    runProgram('firewall-cmd', ['--permanent', '--list-all']),
  ]);
  if (runtime.code !== 0 || permanent.code !== 0) return { tool: 'firewalld', openPorts: null };
  return {
    tool: 'firewalld',
    openPorts: listZonePorts(runtime.stdout, ports),
    permanentPorts: listZonePorts(permanent.stdout, ports),
  };
}

/** Returns the ports that the default zone of firewalld allows, from the output of `--list-all`. */
function listZonePorts(zone: string, ports: readonly number[]): readonly number[] {
  if (/^ *target: ACCEPT$/mu.test(zone)) return ports;
  const words = (field: string): readonly string[] =>
    new RegExp(`^ *${field}: (.*)$`, 'mu').exec(zone)?.[1]?.split(' ') ?? [];
  const services = words('services');
  const named = words('ports').map((each) => /^(\d+)(?:-(\d+))?\/tcp$/u.exec(each) ?? []);
  return ports.filter(
    (port) =>
      services.includes(SERVICES.get(port) ?? '') ||
      named.some(([, first, last = first]) => Number(first) <= port && port <= Number(last)),
  );
}

async function listIptablesPorts(runProgram: RunProgram): Promise<number[] | null> {
  const named = await runProgram('iptables-legacy', ['-S', 'INPUT']);
  const result = named.isMissing ? await runProgram('iptables', ['-S', 'INPUT']) : named;
  if (result.code !== 0) return null;
  const rules = result.stdout
    .split('\n')
    .filter((line) => line.startsWith('-A INPUT ') && line.endsWith(' -j ACCEPT'));
  const lists = rules.flatMap((rule) => / --dports? ([\d,]+) /u.exec(rule)?.[1] ?? []);
  return lists.flatMap((list) => list.split(',').map(Number));
}

/** Whether the clock is synchronized; null when unknown. */
export async function isClockSynchronized(runProgram: RunProgram): Promise<boolean | null> {
  const { code, stdout } = await runProgram('timedatectl', ['show', '-pNTPSynchronized']);
  const [, answer] = /^NTPSynchronized=(yes|no)$/mu.exec(stdout) ?? [];
  return code === 0 && answer !== undefined ? answer === 'yes' : null;
}

function splitOnce(line: string): readonly [string, string] {
  const at = line.indexOf('=');
  return [line.slice(0, at), line.slice(at + 1)];
}
