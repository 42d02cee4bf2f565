import type { AgentSensors } from '@latchkey/contract';

import { type Collector, every } from '../collector.ts';
import { listPresent, present, toCelsius } from '../metric-values.ts';
import type { BackgroundReader } from '../read/background-reader.ts';
import { isAsleep } from './gpu/power.ts';
import { parseNumber } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';
import { DriveActivity, listSensors, type SensorFiles } from './sensor-files.ts';

type Temperature = NonNullable<AgentSensors['temperatures']>[number];
type Fan = NonNullable<AgentSensors['fans']>[number];

const INTERVAL_MS = 2_000;

/** How often sensors are searched, and their limits read again. */
const SCAN_INTERVAL_MS = 60_000;

/** An unconnected fan may report 65,535 RPM. */
const MAX_RPM = 60_000;

/**
 * Collects temperatures and fans from /sys/class/hwmon and thermal zones. Drivers may hang, so the background reader reads them,
 * and a snapshot contains the last values. Sensors of a sleeping device are neither read nor reported, and a rotating disk is read
 * only while other programs use it, so that it can spin down.
 * @param pausedDevices the directories of devices that must not be read now, so that they can fall asleep
 */
export function openSensorsCollector(
  roots: Roots,
  reader: BackgroundReader,
  pausedDevices: ReadonlySet<string> = new Set(),
): Collector<AgentSensors> {
  const isScanDue = every(SCAN_INTERVAL_MS);
  const isDue = every(INTERVAL_MS);
  const activity = new DriveActivity();
  let sensors: SensorFiles[] = [];
  /** Sensors whose limits were read. */
  let known: ReadonlySet<SensorFiles> = new Set();

  function scan(): void {
    const before = new Set(sensors.flatMap(pathsOf));
    sensors = listSensors(roots);
    known = new Set();
    reader.closeFiles(before.difference(new Set(sensors.flatMap(pathsOf))));
    activity.keep(new Set(disksOf(sensors)));
  }

  /** Drops the values of devices that sleep or are paused, and starts reading the others. */
  function refresh(atMs: number): void {
    const silent = listSleeping(sensors).union(pausedDevices);
    const awake = new Set(sensors.filter(({ device }) => device === null || !silent.has(device)));
    reader.closeFiles(sensors.filter((sensor) => !awake.has(sensor)).flatMap(pathsOf));
    const idle = new Set(disksOf(sensors).filter((disk) => !activity.mayRead(disk, atMs)));
    const readable = [...awake].filter(({ disk }) => disk === null || !idle.has(disk));
    reader.refresh(readable.flatMap((each) => (known.has(each) ? readings(each) : pathsOf(each))));
    known = new Set([...known].filter((each) => awake.has(each))).union(new Set(readable));
  }

  return {
    collect(atMs) {
      if (isDue(atMs)) {
        if (isScanDue(atMs)) scan();
        refresh(atMs);
      }
      const temperatures = listPresent(sensors.map((each) => describeTemperature(each, reader)));
      const fans = listPresent(sensors.map((each) => describeFan(each, reader)));
      return temperatures === null && fans === null ? null : present({ temperatures, fans });
    },
  };
}

/** Lists sleeping devices: reading a temperature would wake a graphics card. */
function listSleeping(sensors: readonly SensorFiles[]): ReadonlySet<string> {
  const devices = new Set(sensors.map(({ device }) => device).filter((each) => each !== null));
  return new Set([...devices].filter(isAsleep));
}

/** Lists the rotating disks without duplicates. */
function disksOf(sensors: readonly SensorFiles[]): string[] {
  return [...new Set(sensors.map(({ disk }) => disk).filter((disk) => disk !== null))];
}

function pathsOf(sensor: SensorFiles): string[] {
  return [...readings(sensor), sensor.high, sensor.critical].filter((path) => path !== null);
}

/** The files with variable values. */
function readings({ input, fault }: SensorFiles): string[] {
  return fault === null ? [input] : [fault, input];
}

function describeTemperature(sensor: SensorFiles, reader: BackgroundReader): Temperature | null {
  if (sensor.kind !== 'temperature' || isFaulty(sensor, reader)) return null;
  const celsius = readCelsius(sensor.input, reader);
  if (celsius === null) return null;
  return present({
    id: sensor.id,
    chip: sensor.chip,
    label: sensor.label,
    temperature_celsius: celsius,
    high_celsius: readCelsius(sensor.high, reader),
    critical_celsius: readCelsius(sensor.critical, reader),
  });
}

function readCelsius(path: string | null, reader: BackgroundReader): number | null {
  return path === null ? null : toCelsius(parseNumber(reader.textOf(path)));
}

/** Whether the chip reports a fault: nothing is connected, or the wire is broken. */
function isFaulty({ fault }: SensorFiles, reader: BackgroundReader): boolean {
  return fault !== null && reader.textOf(fault) === '1';
}

function describeFan(sensor: SensorFiles, reader: BackgroundReader): Fan | null {
  if (sensor.kind !== 'fan' || isFaulty(sensor, reader)) return null;
  const rpm = parseNumber(reader.textOf(sensor.input));
  if (rpm === null || rpm < 0 || rpm > MAX_RPM) return null;
  return present({ id: sensor.id, chip: sensor.chip, label: sensor.label, speed_rpm: rpm });
}
