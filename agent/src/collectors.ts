import { openCpuCollector } from './collect/cpu.ts';
import { openDisksCollector } from './collect/disks.ts';
import { openLoadCollector } from './collect/load.ts';
import { openMemoryCollector } from './collect/memory.ts';
import { openNetworkCollector } from './collect/network.ts';
import { openPressureCollector } from './collect/pressure.ts';
import { openSwapCollector } from './collect/swap.ts';
import { openUptimeCollector } from './collect/uptime.ts';
import type { Collectors } from './collector.ts';
import type { Roots } from './roots.ts';

/** All that a machine may have. */
export function openCollectors(roots: Roots): Collectors {
  return {
    uptime_seconds: openUptimeCollector(roots),
    cpu: openCpuCollector(roots),
    load: openLoadCollector(roots),
    memory: openMemoryCollector(roots),
    swap: openSwapCollector(roots),
    pressure: openPressureCollector(roots),
    disks: openDisksCollector(roots),
    network: openNetworkCollector(roots),
  };
}
