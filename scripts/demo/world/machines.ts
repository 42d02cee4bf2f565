/** The machines on which the software of the demo's vendor runs. */
import type { Random } from '../random.ts';
import { DAY_MS } from '../time.ts';

export interface Machine {
  readonly id: string;
  readonly installId: string;
  readonly osVersion: string;
  /** As the software sends it, except the version of the software. */
  readonly fingerprint: Readonly<Record<string, string>>;
  /** How many days after its release a version is installed; infinite: never. */
  readonly updateDelayDays: number;
  /** The probability of use on a working day. */
  readonly habit: number;
}

/** The releases of the software, by the days before now. The last one is a beta that few install. */
export const RELEASES = [
  { version: '3.8.2', daysAgo: 900 },
  { version: '3.9.0', daysAgo: 76 },
  { version: '3.9.1', daysAgo: 53 },
  { version: '4.0.0', daysAgo: 25 },
  { version: '4.0.1', daysAgo: 10 },
] as const;

const BETA = { version: '4.1.0-beta.1', daysAgo: 6 };

const PLATFORMS = [
  [['macOS 26.1', 'macOS 26.0', 'macOS 15.7', 'macOS 14.8'], 44],
  [['Windows 11 25H2', 'Windows 11 24H2', 'Windows 10 22H2'], 46],
  [['Ubuntu 24.04', 'Fedora 43', 'Debian 13'], 10],
] as const;

export function createMachine(random: Random): Machine {
  const osVersion = random.pick(random.weighted<readonly string[]>(PLATFORMS));
  const id = random.uuid().toUpperCase();
  return {
    id,
    installId: random.uuid(),
    osVersion,
    fingerprint: {
      machine_id: id,
      hardware_uuid: random.uuid().toUpperCase(),
      board_serial: random.symbols(12).toUpperCase(),
      cpu_id: random.hex(16).toUpperCase(),
      disk_serial: `S${random.symbols(13).toUpperCase()}`,
      os_version: osVersion,
    },
    updateDelayDays: random.chance(0.07) ? Infinity : random.exponential(5),
    habit: random.weighted([
      [0.9, 40],
      [0.55, 30],
      [0.2, 22],
      [0.05, 8],
    ]),
  };
}

/** Returns the version of the software on a machine at a time; before its first update, the oldest one. */
export function versionAt({ updateDelayDays, installId }: Machine, timeMs: number, nowMs: number) {
  const isBetaTester = installId.startsWith('0');
  const releases = isBetaTester ? [...RELEASES, BETA] : RELEASES;
  const installed = releases.filter(
    ({ daysAgo }) => timeMs >= nowMs - (daysAgo - updateDelayDays) * DAY_MS,
  );
  return installed.at(-1)?.version ?? RELEASES[0].version;
}
