import type { AgentSnapshot } from '@latchkey/contract';

import { type Attributes, type Metrics, type Point, pointsOf } from './otlp-metrics.ts';

const describeSensor = (sensor: { readonly id: string; readonly label?: string }): Attributes => ({
  'hw.id': sensor.id,
  'hw.name': sensor.label,
});

/** Adds temperatures (also of GPUs), fans and batteries. */
export function addHardware(metrics: Metrics, snapshot: AgentSnapshot): void {
  const { sensors, gpus = [], batteries = [] } = snapshot;
  metrics.gauge('hw.temperature', 'Cel', [
    ...pointsOf(sensors?.temperatures ?? [], 'temperature_celsius', describeSensor),
    ...pointsOf(gpus, 'temperature_celsius', describeGpu),
  ]);
  metrics.gauge('hw.fan.speed', 'rpm', pointsOf(sensors?.fans ?? [], 'speed_rpm', describeSensor));
  const charges = pointsOf(batteries, 'charge_ratio', ({ name }) => ({ 'hw.id': name }));
  metrics.gauge('hw.battery.charge', '1', charges);
}

type Gpu = NonNullable<AgentSnapshot['gpus']>[number];

/** Identifies a card: the conventions require an id that is stable while the machine runs. */
const describeGpu = ({ vendor, index, name, pci_address: address }: Gpu): Attributes => ({
  'hw.id': address ?? `${vendor}${index}`,
  'hw.name': name,
  'hw.vendor': vendor,
  'hw.type': 'gpu',
});

/** Adds GPUs, without their temperatures. */
export function addGpus(metrics: Metrics, { gpus = [] }: AgentSnapshot): void {
  const describeTask = (gpu: Gpu): Attributes => ({
    ...describeGpu(gpu),
    'hw.gpu.task': 'general',
  });
  const memoryShares = gpus.map((gpu): Point => [readMemoryShare(gpu), describeGpu(gpu)]);
  metrics.gauge('hw.gpu.utilization', '1', pointsOf(gpus, 'usage_ratio', describeTask));
  metrics.sum('hw.gpu.memory.usage', 'By', pointsOf(gpus, 'memory_used_bytes', describeGpu));
  metrics.sum('hw.gpu.memory.limit', 'By', pointsOf(gpus, 'memory_total_bytes', describeGpu));
  metrics.gauge('hw.gpu.memory.utilization', '1', memoryShares);
  metrics.gauge('hw.power', 'W', pointsOf(gpus, 'power_watts', describeGpu));
}

function readMemoryShare({
  memory_used_bytes: used,
  memory_total_bytes: total,
}: Gpu): number | undefined {
  return used === undefined || total === undefined || total === 0 ? undefined : used / total;
}
