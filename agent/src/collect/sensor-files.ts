import { basename, join } from 'node:path';

import { listDirectory, readNumber, readText, resolvePath } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';

/** Where a sensor's figures lie. */
export interface SensorFiles {
  readonly kind: 'temperature' | 'fan';
  readonly id: string;
  /** The directory of the device that measures, without links; null where none is said. */
  readonly device: string | null;
  /** The directory of the rotating disk that is asked for it (drivetemp); null for all else. */
  readonly disk: string | null;
  readonly chip: string;
  readonly label: string | null;
  readonly input: string;
  /** Says 1 where the input is not to be trusted; null where the chip cannot tell. */
  readonly fault: string | null;
  /** Limits of a temperature, which seldom change. */
  readonly high: string | null;
  readonly critical: string | null;
}

/** More are not shown. */
const MAX_SENSORS = 128;

/** Temperatures and fans of the chips in /sys/class/hwmon, and thermal zones that no chip stands for. */
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
  // The number of hwmon changes from boot to boot; where the device sits does not.
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

/** A zone with a chip of its own is that chip; Intel's package is what `coretemp` measures too. */
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

/** The shortest time between two questions to a disk that may spin down. */
const INTERVAL_MS = 60_000;

interface Drive {
  /** The counters of requests when the disk was last known to be asked by us alone; null until they were read. */
  baseline: string | null;
  askedAtMs: number;
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
 * Decides when rotating disks may be asked for their temperature. Reading it may reset the timer by which a disk spins down
 * (kernel documentation, drivetemp), so a disk is asked at most once a minute, and only when others have used it since.
 */
export class DriveActivity {
  readonly #drives = new Map<string, Drive>();

  /**
   * Whether a disk may be asked now; the answer counts as asking.
   * @param disk its directory below /sys
   * @param atMs milliseconds of a clock that only goes forward
   */
  mayAsk(disk: string, atMs: number): boolean {
    const counters = readText(join(disk, 'stat'));
    const drive = this.#drives.get(disk);
    if (drive === undefined || drive.isSettling) {
      // Some kernels count our own question as a request.
      const askedAtMs = drive?.askedAtMs ?? Number.NEGATIVE_INFINITY;
      this.#drives.set(disk, { baseline: counters, askedAtMs, isSettling: false });
      return false;
    }
    const isUsed = counters !== null && counters !== drive.baseline;
    if (!isUsed || atMs - drive.askedAtMs < INTERVAL_MS) return false;
    this.#drives.set(disk, { baseline: counters, askedAtMs: atMs, isSettling: true });
    return true;
  }

  /** Forgets the disks that are not among these. */
  keep(disks: ReadonlySet<string>): void {
    for (const disk of this.#drives.keys()) if (!disks.has(disk)) this.#drives.delete(disk);
  }
}
