import { openBatteriesCollector } from './collect/batteries.ts';
import { openContainersCollector } from './collect/containers.ts';
import { openCpuCollector } from './collect/cpu.ts';
import { DiskHealthCollector } from './collect/disk-health.ts';
import { openDisksCollector } from './collect/disks.ts';
import { openFilesystemsCollector } from './collect/filesystems.ts';
import { openGpusCollector } from './collect/gpu/gpus.ts';
import { openLoadCollector, openUptimeCollector } from './collect/load.ts';
import { openMemoryCollector, openSwapCollector } from './collect/memory.ts';
import { openNetworkCollector } from './collect/network.ts';
import { openPressureCollector } from './collect/pressure.ts';
import { openProcessesCollector } from './collect/processes.ts';
import { openRaspberryPiCollector } from './collect/raspberry-pi.ts';
import { openSensorsCollector } from './collect/sensors.ts';
import { openUnitsCollector } from './collect/units.ts';
import type { Collectors } from './collector.ts';
import type { MountProber } from './probe/mount-prober.ts';
import type { BackgroundReader } from './read/background-reader.ts';
import type { Roots } from './roots.ts';

/** Readers of files and mounts that may hang. The caller closes them. */
interface Background {
  readonly prober: MountProber;
  readonly reader: BackgroundReader;
}

/**
 * Opens all collectors.
 * @param intervalMs the interval between two snapshots
 */
export function openCollectors(
  roots: Roots,
  { prober, reader }: Background,
  intervalMs = 1000,
): Collectors {
  const pausedDevices = new Set<string>();
  return {
    uptime_seconds: openUptimeCollector(roots),
    cpu: openCpuCollector(roots, reader),
    load: openLoadCollector(roots),
    memory: openMemoryCollector(roots),
    swap: openSwapCollector(roots),
    pressure: openPressureCollector(roots),
    disks: openDisksCollector(roots),
    disk_health: new DiskHealthCollector(roots),
    filesystems: openFilesystemsCollector(roots, prober),
    network: openNetworkCollector(roots),
    sensors: openSensorsCollector(roots, reader, pausedDevices),
    batteries: openBatteriesCollector(roots, reader),
    gpus: openGpusCollector(roots, reader, { intervalMs, pausedDevices }),
    processes: openProcessesCollector(roots),
    containers: openContainersCollector(roots),
    units: openUnitsCollector(roots),
    raspberry_pi: openRaspberryPiCollector(roots, reader),
  };
}
