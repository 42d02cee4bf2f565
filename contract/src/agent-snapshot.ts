import { type Static, Type } from 'typebox';
import { AgentGpu } from './agent-gpu.ts';
import { AgentNetwork } from './agent-network.ts';
import { amount, measure, name, object, ratio } from './agent-schema.ts';
import { AgentDisk, AgentDiskHealth, AgentFilesystem } from './agent-storage.ts';
import { dateTime, oneOf } from './schema.ts';

const { Optional, Array: List } = Type;

/*
 * The metrics of a machine. Names follow OpenTelemetry and Prometheus, with the unit last. What a machine lacks is absent,
 * never 0. A field that ends in `_total` counts since boot. Rates per second and ratios of time cover the time since the
 * previous snapshot; they are absent in the first snapshot, and after a reset of their counter.
 */

const CpuShares = object({
  user_ratio: ratio('User programs, guests of a hypervisor included.'),
  nice_ratio: ratio('User programs with lowered priority (nice).'),
  system_ratio: ratio('Kernel.'),
  iowait_ratio: ratio('Idle during a disk request.'),
  interrupt_ratio: ratio('Hardware and software interrupts.'),
  steal_ratio: ratio('Used by the hypervisor for other machines.'),
  idle_ratio: ratio('Idle.'),
});

const CpuTimes = object({
  user_seconds_total: amount('User programs, guests of a hypervisor included.'),
  nice_seconds_total: amount('User programs with lowered priority (nice).'),
  system_seconds_total: amount('Kernel.'),
  iowait_seconds_total: amount('May decrease a little, because the kernel only estimates it.'),
  interrupt_seconds_total: amount('Hardware and software interrupts.'),
  steal_seconds_total: amount('Used by the hypervisor for other machines.'),
  idle_seconds_total: amount('Idle.'),
});

const cpuUsage = ratio('Neither idle nor waiting for a disk.');
const frequency = amount(
  'The current clock frequency, of cores that report it; virtual machines do not.',
);

export const AgentCpu = object({
  logical_count: Type.Integer({ minimum: 1, description: 'Number of online cores.' }),
  usage_ratio: Optional(cpuUsage),
  shares: Optional(CpuShares),
  times: CpuTimes,
  frequency_hertz: Optional(frequency),
  cores: List(
    object({
      core: Type.Integer({
        minimum: 0,
        description: 'The number of the core; missing numbers are offline cores.',
      }),
      usage_ratio: Optional(cpuUsage),
      times: CpuTimes,
      frequency_hertz: Optional(frequency),
    }),
  ),
});
export type AgentCpu = Static<typeof AgentCpu>;

export const AgentLoad = object({
  load_1m: amount('Average number of tasks that ran or waited for a disk, over a minute.'),
  load_5m: amount('The same over five minutes.'),
  load_15m: amount('The same over 15 minutes.'),
  runnable_tasks: amount('Threads that run or are ready to run.'),
  tasks: amount('Number of threads.'),
});
export type AgentLoad = Static<typeof AgentLoad>;

export const AgentMemory = object({
  total_bytes: amount('Memory that the kernel manages.'),
  used_bytes: amount('Total minus available.'),
  available_bytes: amount(
    'Memory that programs can use without swapping, with the reclaimable part of the ZFS cache.',
  ),
  usage_ratio: ratio('Used divided by total.'),
  free_bytes: amount('Unused memory.'),
  buffers_bytes: amount('Cached disk blocks.'),
  cached_bytes: amount('Cached file contents, with shared memory, without ZFS.'),
  active_bytes: Optional(amount('Recently used memory.')),
  shared_bytes: Optional(amount('Shared memory and tmpfs.')),
  slab_reclaimable_bytes: Optional(amount('Reclaimable caches of the kernel.')),
  dirty_bytes: Optional(amount('Waiting to be written to disk.')),
  zfs_arc_bytes: Optional(amount('The cache of ZFS.')),
});
export type AgentMemory = Static<typeof AgentMemory>;

export const AgentSwap = object({
  total_bytes: amount('Size of all swap areas.'),
  used_bytes: amount('Swap in use.'),
  free_bytes: amount('Unused swap.'),
  usage_ratio: ratio('Used divided by total.'),
  in_bytes_per_second: Optional(amount('Read back from swap.')),
  out_bytes_per_second: Optional(amount('Written to swap.')),
  in_bytes_total: Optional(amount('Read back since boot.')),
  out_bytes_total: Optional(amount('Written since boot.')),
});
export type AgentSwap = Static<typeof AgentSwap>;

const PressureLine = object({
  stall_ratio: Optional(ratio('Of the time since the previous snapshot.')),
  average_10s_ratio: ratio('Of the last 10 seconds.'),
  average_60s_ratio: ratio('Of the last minute.'),
  average_300s_ratio: ratio('Of the last five minutes.'),
  stall_seconds_total: amount('Stalled time since boot.'),
});

const PressureOf = object({
  some: Optional(PressureLine),
  full: Optional(PressureLine),
});

/** Pressure stall information (PSI): the time in which some tasks (`some`) or all of them (`full`) waited for a resource. */
export const AgentPressure = object({
  cpu: Optional(PressureOf),
  memory: Optional(PressureOf),
  io: Optional(PressureOf),
  irq: Optional(PressureOf),
});
export type AgentPressure = Static<typeof AgentPressure>;

const sensorId = name('Identifies the sensor, also after a restart.', 'coretemp.0/temp1');
const chip = name('The name of the driver.', 'coretemp');
const label = Optional(name('The label that the driver sets.', 'Package id 0'));

export const AgentSensors = object({
  temperatures: Optional(
    List(
      object({
        id: sensorId,
        chip,
        label,
        temperature_celsius: measure('Current temperature.'),
        high_celsius: Optional(measure('The high threshold of the device.')),
        critical_celsius: Optional(measure('The critical threshold of the device.')),
      }),
    ),
  ),
  fans: Optional(
    List(
      object({
        id: sensorId,
        chip,
        label,
        speed_rpm: amount('Revolutions per minute; 0: stopped.'),
      }),
    ),
  ),
});
export type AgentSensors = Static<typeof AgentSensors>;

export const AgentBattery = object({
  name: name('The name in the kernel.', 'BAT0'),
  status: oneOf(['charging', 'discharging', 'full', 'not_charging', 'unknown']),
  charge_ratio: Optional(ratio('Charge divided by the present full capacity.')),
  health_ratio: Optional(ratio('Present full capacity divided by the design capacity.')),
  power_watts: Optional(amount('Charging or discharging power.')),
  cycles: Optional(amount('Number of charge cycles.')),
});
export type AgentBattery = Static<typeof AgentBattery>;

const Process = object({
  pid: Type.Integer({ minimum: 1 }),
  name: name('The name of the command, without arguments, which may contain secrets.', 'postgres'),
  cpu_cores: Optional(amount('Cores in use: 2 is two full cores.')),
  memory_bytes: Optional(amount('Resident memory (RSS), shared pages included.')),
});

export const AgentProcesses = object({
  count: Type.Integer({ minimum: 0, description: 'Number of processes.' }),
  top_by_cpu: List(Process),
  top_by_memory: List(Process),
});
export type AgentProcesses = Static<typeof AgentProcesses>;

export const AgentContainer = object({
  id: name('The first 12 characters of its id, or its name.', '4c01db0b339c'),
  runtime: oneOf(['docker', 'podman', 'kubernetes', 'lxc', 'nspawn']),
  cpu_cores: Optional(amount('Cores in use.')),
  memory_bytes: Optional(amount('Memory in use, without reclaimable file contents.')),
  memory_limit_bytes: Optional(amount('Absent without a limit.')),
  read_bytes_per_second: Optional(amount('Read from disks.')),
  write_bytes_per_second: Optional(amount('Written to disks.')),
  processes: Optional(amount('Number of processes and threads.')),
});
export type AgentContainer = Static<typeof AgentContainer>;

export const AgentUnits = object({
  failed: List(Type.String(), { description: 'Failed units of systemd.' }),
});
export type AgentUnits = Static<typeof AgentUnits>;

const nowAndSinceBoot = (description: string) =>
  object({ now: Type.Boolean({ description }), since_boot: Type.Boolean() });

export const AgentRaspberryPi = object({
  under_voltage: nowAndSinceBoot('The power supply is too weak.'),
  frequency_capped: nowAndSinceBoot('The clock frequency is capped.'),
  throttled: nowAndSinceBoot('Throttled.'),
  soft_temperature_limit: nowAndSinceBoot('Slightly throttled because of the temperature.'),
});
export type AgentRaspberryPi = Static<typeof AgentRaspberryPi>;

/** The metrics of a machine at one time. */
export const AgentSnapshot = object(
  {
    time: dateTime({ description: 'By the clock of the machine.' }),
    uptime_seconds: Optional(amount('Time since boot.')),
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
