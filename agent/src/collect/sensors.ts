import type { AgentSensors } from '@latchkey/contract';

import { type Collector, every } from '../collector.ts';
import { present, toCelsius } from '../figures.ts';
import type { BackgroundReader } from '../read/background-reader.ts';
import { isAsleep } from './gpu/power.ts';
import { parseNumber } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';
import { DriveActivity, listSensors, type SensorFiles } from './sensor-files.ts';

type Temperature = NonNullable<AgentSensors['temperatures']>[number];
type Fan = NonNullable<AgentSensors['fans']>[number];

const INTERVAL_MS = 2_000;

/** Sensors are looked for again this often, and their limits read anew. */
const LOOK_INTERVAL_MS = 60_000;

/** A fan that is not connected may tell of 65,535 turns. */
const FASTEST_RPM = 60_000;

/**
 * Temperatures and fans, from /sys/class/hwmon and thermal zones. Their drivers may hang, so the background reader reads
 * them, and a snapshot has what it read last. Those of a device that sleeps are neither read nor shown; a rotating disk is
 * asked only while others use it, so that it can spin down.
 * @param leftAlone the directories of the devices that are to be left alone now, so that they can fall asleep
 */
export function openSensorsCollector(
  roots: Roots,
  reader: BackgroundReader,
  leftAlone: ReadonlySet<string> = new Set(),
): Collector<AgentSensors> {
  const isLookDue = every(LOOK_INTERVAL_MS);
  const isDue = every(INTERVAL_MS);
  const activity = new DriveActivity();
  let sensors: SensorFiles[] = [];
  /** Those of which the limits were read, too. */
  let known: ReadonlySet<SensorFiles> = new Set();

  function look(): void {
    const before = new Set(sensors.flatMap(pathsOf));
    sensors = listSensors(roots);
    known = new Set();
    reader.forget(before.difference(new Set(sensors.flatMap(pathsOf))));
    activity.keep(new Set(disksOf(sensors)));
  }

  /** What a device said before it fell asleep or was left alone is forgotten. */
  function refresh(atMs: number): void {
    const quiet = listSleeping(sensors).union(leftAlone);
    const awake = new Set(sensors.filter(({ device }) => device === null || !quiet.has(device)));
    reader.forget(sensors.filter((sensor) => !awake.has(sensor)).flatMap(pathsOf));
    const idle = new Set(disksOf(sensors).filter((disk) => !activity.mayAsk(disk, atMs)));
    const asked = [...awake].filter(({ disk }) => disk === null || !idle.has(disk));
    reader.refresh(asked.flatMap((each) => (known.has(each) ? readings(each) : pathsOf(each))));
    known = new Set([...known].filter((each) => awake.has(each))).union(new Set(asked));
  }

  return {
    collect(atMs) {
      if (isDue(atMs)) {
        if (isLookDue(atMs)) look();
        refresh(atMs);
      }
      const temperatures = sensors.map((sensor) => describeTemperature(sensor, reader));
      const fans = sensors.map((sensor) => describeFan(sensor, reader));
      return summarise(
        temperatures.filter((each) => each !== null),
        fans.filter((each) => each !== null),
      );
    },
  };
}

/** The devices that sleep: a graphics card is woken up by the question how warm it is. */
function listSleeping(sensors: readonly SensorFiles[]): ReadonlySet<string> {
  const devices = new Set(sensors.map(({ device }) => device).filter((each) => each !== null));
  return new Set([...devices].filter(isAsleep));
}

/** The rotating disks, each once. */
function disksOf(sensors: readonly SensorFiles[]): string[] {
  return [...new Set(sensors.map(({ disk }) => disk).filter((disk) => disk !== null))];
}

function pathsOf(sensor: SensorFiles): string[] {
  return [...readings(sensor), sensor.high, sensor.critical].filter((path) => path !== null);
}

/** What changes all the time. */
function readings({ input, fault }: SensorFiles): string[] {
  return fault === null ? [input] : [fault, input];
}

function summarise(temperatures: Temperature[], fans: Fan[]): AgentSensors | null {
  if (temperatures.length === 0 && fans.length === 0) return null;
  return present({
    temperatures: temperatures.length === 0 ? null : temperatures,
    fans: fans.length === 0 ? null : fans,
  });
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

/** The chip itself says that what it measures there is not to be trusted: nothing is connected, or the wire is broken. */
function isFaulty({ fault }: SensorFiles, reader: BackgroundReader): boolean {
  return fault !== null && reader.textOf(fault) === '1';
}

function describeFan(sensor: SensorFiles, reader: BackgroundReader): Fan | null {
  if (sensor.kind !== 'fan' || isFaulty(sensor, reader)) return null;
  const rpm = parseNumber(reader.textOf(sensor.input));
  if (rpm === null || rpm < 0 || rpm > FASTEST_RPM) return null;
  return present({ id: sensor.id, chip: sensor.chip, label: sensor.label, speed_rpm: rpm });
}
