import { basename, join } from 'node:path';

import { listDirectory, readNumber, readText, resolvePath } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';

/** The files of a sensor. */
export interface SensorFiles {
  readonly kind: 'temperature' | 'fan';
  readonly id: string;
  /** The directory of the measuring device, without links; null when unknown. */
  readonly device: string | null;
  /** The directory of the rotating disk (drivetemp); null for other sensors. */
  readonly disk: string | null;
  readonly chip: string;
  readonly label: string | null;
  readonly input: string;
  /** File that contains 1 when the input is invalid; null without one. */
  readonly fault: string | null;
  /** Limits of a temperature, which seldom change. */
  readonly high: string | null;
  readonly critical: string | null;
}

/** At most this many are shown. */
const MAX_SENSORS = 128;

/** Lists the temperatures and fans in /sys/class/hwmon, and the thermal zones without a chip. */
export function listSensors(roots: Roots): SensorFiles[] {
  const chips = listDirectory(join(roots.sys, 'class/hwmon')).flatMap((name) =>
    listOfChip(join(roots.sys, 'class/hwmon', name)),
  );
  const known = new Set(chips.map(({ chip }) => chip));
  const zones = listDirectory(join(roots.sys, 'class/thermal'))
    .filter((name) => name.startsWith('thermal_zone'))
    .flatMap((name) => listOfZone(join(roots.sys, 'class/thermal', name), known));
  return [...chips, ...zones].slice(0, MAX_SENSORS).sort((a, b) => a.id.localeCompare(b.id));
}

function listOfChip(directory: string): SensorFiles[] {
  const files = new Set(listDirectory(directory));
  const chip = readText(join(directory, 'name'));
  if (chip === null || chip === '') return [];
  // The number of hwmon changes between boots; the path of the device does not.
  const device = resolvePath(join(directory, 'device'));
  const place = device === null ? chip : basename(device);
  const disk = chip === 'drivetemp' && device !== null ? findRotatingDisk(device) : null;
  return [...files].flatMap((file) => {
    const name = /^((temp|fan)\d{1,3})_input$/.exec(file);
    const sensor = name?.[1];
    if (sensor === undefined) return [];
    const pathOf = (suffix: string): string | null =>
      files.has(`${sensor}_${suffix}`) ? join(directory, `${sensor}_${suffix}`) : null;
    const isTemperature = name?.[2] === 'temp';
    const label = pathOf('label');
    return {
      kind: isTemperature ? 'temperature' : 'fan',
      id: `${place}/${sensor}`,
      device,
      disk,
      chip,
      label: label === null ? null : readText(label),
      input: join(directory, file),
      fault: pathOf('fault'),
      high: isTemperature ? pathOf('max') : null,
      critical: isTemperature ? pathOf('crit') : null,
    };
  });
}

/** Skips zones that have their own chip, and Intel's package, which `coretemp` measures too. */
function listOfZone(directory: string, chips: ReadonlySet<string>): SensorFiles[] {
  const type = readText(join(directory, 'type'));
  const hasChip = listDirectory(directory).some((name) => name.startsWith('hwmon'));
  if (type === null || hasChip || (type === 'x86_pkg_temp' && chips.has('coretemp'))) return [];
  return [
    {
      kind: 'temperature',
      id: `${type}/${basename(directory)}`,
      device: null,
      disk: null,
      chip: type,
      label: null,
      input: join(directory, 'temp'),
      fault: null,
      high: null,
      critical: findCriticalTrip(directory),
    },
  ];
}

function findCriticalTrip(directory: string): string | null {
  const name = listDirectory(directory).find(
    (file) => /^trip_point_\d+_type$/.test(file) && readText(join(directory, file)) === 'critical',
  );
  return name === undefined ? null : join(directory, name.replace('_type', '_temp'));
}

/** The shortest time between two readings of a disk that may spin down. */
const INTERVAL_MS = 60_000;

interface Drive {
  /** The request counters after the agent's last reading; null before they were read. */
  baseline: string | null;
  readAtMs: number;
  isSettling: boolean;
}

/**
 * Returns the directory of the rotating disk that belongs to a device; null where there is none.
 * @param device the directory of the SCSI device
 */
function findRotatingDisk(device: string): string | null {
  const [name] = listDirectory(join(device, 'block'));
  if (name === undefined) return null;
  const disk = join(device, 'block', name);
  return readNumber(join(disk, 'queue/rotational')) === 1 ? disk : null;
}

/**
 * Decides when the temperature of a rotating disk may be read. A reading may reset the timer by which the disk spins down (kernel
 * documentation, drivetemp), so a disk is read at most once a minute, and only after requests of other programs.
 */
export class DriveActivity {
  readonly #drives = new Map<string, Drive>();

  /**
   * Whether a disk may be read now; true counts as a reading.
   * @param disk its directory below /sys
   * @param atMs the monotonic time in milliseconds
   */
  mayRead(disk: string, atMs: number): boolean {
    const counters = readText(join(disk, 'stat'));
    const drive = this.#drives.get(disk);
    if (drive === undefined || drive.isSettling) {
      // Some kernels count the agent's own reading as a request.
      const readAtMs = drive?.readAtMs ?? Number.NEGATIVE_INFINITY;
      this.#drives.set(disk, { baseline: counters, readAtMs, isSettling: false });
      return false;
    }
    const isUsed = counters !== null && counters !== drive.baseline;
    if (!isUsed || atMs - drive.readAtMs < INTERVAL_MS) return false;
    this.#drives.set(disk, { baseline: counters, readAtMs: atMs, isSettling: true });
    return true;
  }

  /** Drops all disks but these. */
  keep(disks: ReadonlySet<string>): void {
    for (const disk of this.#drives.keys()) if (!disks.has(disk)) this.#drives.delete(disk);
  }
}
