import { type Static, Type } from 'typebox';
import { AgentGpu } from './agent-gpu.ts';
import { AgentNetwork } from './agent-network.ts';
import { amount, measure, name, object, ratio } from './agent-schema.ts';
import { AgentDisk, AgentDiskHealth, AgentFilesystem } from './agent-storage.ts';
import { dateTime, oneOf } from './schema.ts';

const { Optional, Array: List } = Type;

/*
 * What the agent says about a machine. Names follow OpenTelemetry's and Prometheus' words with the unit last.
 * What a machine lacks is left out, never 0. A field ending in `_total` counts since boot; what is per second,
 * and every ratio over time, is over the time since the snapshot before, and left out in the first one,
 * or when a counter was reset in between.
 */

const CpuShares = object({
  user_ratio: ratio('Programs, guests of a hypervisor included.'),
  nice_ratio: ratio('Programs that gave way (nice).'),
  system_ratio: ratio('The kernel.'),
  iowait_ratio: ratio('Idle with a disk request under way.'),
  interrupt_ratio: ratio('Hard and soft interrupts.'),
  steal_ratio: ratio('Taken by the hypervisor for other machines.'),
  idle_ratio: ratio('Idle.'),
});

const CpuTimes = object({
  user_seconds_total: amount('Guests of a hypervisor included.'),
  nice_seconds_total: amount('Programs that gave way (nice).'),
  system_seconds_total: amount('The kernel.'),
  iowait_seconds_total: amount('May fall a little: the kernel only estimates it.'),
  interrupt_seconds_total: amount('Hard and soft interrupts.'),
  steal_seconds_total: amount('Taken by the hypervisor.'),
  idle_seconds_total: amount('Idle.'),
});

const cpuUsage = ratio('Neither idle nor waiting for a disk.');
const frequency = amount('The clock now, of the cores that say it; virtual machines do not.');

export const AgentCpu = object({
  logical_count: Type.Integer({ minimum: 1, description: 'Cores that are online.' }),
  usage_ratio: Optional(cpuUsage),
  shares: Optional(CpuShares),
  times: CpuTimes,
  frequency_hertz: Optional(frequency),
  cores: List(
    object({
      core: Type.Integer({
        minimum: 0,
        description: 'Its number; gaps are cores that are offline.',
      }),
      usage_ratio: Optional(cpuUsage),
      times: CpuTimes,
      frequency_hertz: Optional(frequency),
    }),
  ),
});
export type AgentCpu = Static<typeof AgentCpu>;

export const AgentLoad = object({
  load_1m: amount('Tasks that ran or waited for a disk, averaged over a minute.'),
  load_5m: amount('Over five minutes.'),
  load_15m: amount('Over a quarter of an hour.'),
  runnable_tasks: amount('Threads that run or could run now.'),
  tasks: amount('Threads there are.'),
});
export type AgentLoad = Static<typeof AgentLoad>;

export const AgentMemory = object({
  total_bytes: amount('Memory that the kernel manages.'),
  used_bytes: amount('Total less available.'),
  available_bytes: amount('What programs can have without swapping; of ZFS, what it gives back.'),
  usage_ratio: ratio('Used of total.'),
  free_bytes: amount('Used for nothing at all.'),
  buffers_bytes: amount('Blocks of disks.'),
  cached_bytes: amount('Contents of files, shared memory included, without ZFS.'),
  active_bytes: Optional(amount('Used not long ago.')),
  shared_bytes: Optional(amount('Shared memory and tmpfs.')),
  slab_reclaimable_bytes: Optional(amount('Caches of the kernel that it gives back.')),
  dirty_bytes: Optional(amount('Waiting to be written to disk.')),
  zfs_arc_bytes: Optional(amount('The cache of ZFS.')),
});
export type AgentMemory = Static<typeof AgentMemory>;

export const AgentSwap = object({
  total_bytes: amount('Of all swap areas.'),
  used_bytes: amount('In use.'),
  free_bytes: amount('Not in use.'),
  usage_ratio: ratio('Used of total.'),
  in_bytes_per_second: Optional(amount('Read back from swap.')),
  out_bytes_per_second: Optional(amount('Written to swap.')),
  in_bytes_total: Optional(amount('Read back since boot.')),
  out_bytes_total: Optional(amount('Written since boot.')),
});
export type AgentSwap = Static<typeof AgentSwap>;

const PressureLine = object({
  stall_ratio: Optional(ratio('Of the time since the snapshot before.')),
  average_10s_ratio: ratio('Of the last 10 seconds.'),
  average_60s_ratio: ratio('Of the last minute.'),
  average_300s_ratio: ratio('Of the last five minutes.'),
  stall_seconds_total: amount('Since boot.'),
});

const PressureOf = object({
  some: Optional(PressureLine),
  full: Optional(PressureLine),
});

/** How long tasks waited for a resource (PSI): `some` of them, or all (`full`). */
export const AgentPressure = object({
  cpu: Optional(PressureOf),
  memory: Optional(PressureOf),
  io: Optional(PressureOf),
  irq: Optional(PressureOf),
});
export type AgentPressure = Static<typeof AgentPressure>;

const sensorId = name('Stays the same over restarts.', 'coretemp.0/temp1');
const chip = name('The driver.', 'coretemp');
const label = Optional(name('What the driver calls it.', 'Package id 0'));

export const AgentSensors = object({
  temperatures: Optional(
    List(
      object({
        id: sensorId,
        chip,
        label,
        temperature_celsius: measure('Now.'),
        high_celsius: Optional(measure('Where the maker begins to worry.')),
        critical_celsius: Optional(measure('Where the device is at risk.')),
      }),
    ),
  ),
  fans: Optional(
    List(object({ id: sensorId, chip, label, speed_rpm: amount('Turns per minute; 0 stands.') })),
  ),
});
export type AgentSensors = Static<typeof AgentSensors>;

export const AgentBattery = object({
  name: name('As the kernel calls it.', 'BAT0'),
  status: oneOf(['charging', 'discharging', 'full', 'not_charging', 'unknown']),
  charge_ratio: Optional(ratio('Of what it holds now.')),
  health_ratio: Optional(ratio('What it holds now, of what it was made for.')),
  power_watts: Optional(amount('Going in or out.')),
  cycles: Optional(amount('How often it was charged.')),
});
export type AgentBattery = Static<typeof AgentBattery>;

const Process = object({
  pid: Type.Integer({ minimum: 1 }),
  name: name('The command alone: arguments may hold secrets.', 'postgres'),
  cpu_cores: Optional(amount('Cores kept busy: 2 is two whole cores.')),
  memory_bytes: Optional(amount('In memory (RSS), shared pages included.')),
});

export const AgentProcesses = object({
  count: Type.Integer({ minimum: 0, description: 'Processes there are.' }),
  top_by_cpu: List(Process),
  top_by_memory: List(Process),
});
export type AgentProcesses = Static<typeof AgentProcesses>;

export const AgentContainer = object({
  id: name('The first 12 characters of its id, or its name.', '4c01db0b339c'),
  runtime: oneOf(['docker', 'podman', 'kubernetes', 'lxc', 'nspawn']),
  cpu_cores: Optional(amount('Cores kept busy.')),
  memory_bytes: Optional(amount('Without the contents of files that can be dropped.')),
  memory_limit_bytes: Optional(amount('Left out where there is none.')),
  read_bytes_per_second: Optional(amount('Read from disks.')),
  write_bytes_per_second: Optional(amount('Written to disks.')),
  processes: Optional(amount('Processes and threads.')),
});
export type AgentContainer = Static<typeof AgentContainer>;

export const AgentUnits = object({
  failed: List(Type.String(), { description: 'Units of systemd that failed.' }),
});
export type AgentUnits = Static<typeof AgentUnits>;

const nowAndEver = (description: string) =>
  object({ now: Type.Boolean({ description }), since_boot: Type.Boolean() });

export const AgentRaspberryPi = object({
  under_voltage: nowAndEver('The power supply is too weak.'),
  frequency_capped: nowAndEver('The clock is held down.'),
  throttled: nowAndEver('Slowed down.'),
  soft_temperature_limit: nowAndEver('Slowed down a little because it is warm.'),
});
export type AgentRaspberryPi = Static<typeof AgentRaspberryPi>;

/** A machine at one moment. */
export const AgentSnapshot = object(
  {
    time: dateTime({ description: 'By the clock of the machine.' }),
    uptime_seconds: Optional(amount('Since boot.')),
    cpu: Optional(AgentCpu),
    load: Optional(AgentLoad),
    memory: Optional(AgentMemory),
    swap: Optional(AgentSwap),
    pressure: Optional(AgentPressure),
    disks: Optional(List(AgentDisk)),
    disk_health: Optional(List(AgentDiskHealth)),
    filesystems: Optional(List(AgentFilesystem)),
    network: Optional(AgentNetwork),
    sensors: Optional(AgentSensors),
    batteries: Optional(List(AgentBattery)),
    gpus: Optional(List(AgentGpu)),
    processes: Optional(AgentProcesses),
    containers: Optional(List(AgentContainer)),
    units: Optional(AgentUnits),
    raspberry_pi: Optional(AgentRaspberryPi),
  },
  'AgentSnapshot',
);
export type AgentSnapshot = Static<typeof AgentSnapshot>;
