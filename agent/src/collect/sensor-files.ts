import { basename, join } from 'node:path';

import { resolvePath } from '../read/real-path.ts';
import { listDirectory, readText } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';
import { findRotatingDisk } from './drive-activity.ts';

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
