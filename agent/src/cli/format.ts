import type { AgentGpu, AgentRaspberryPi } from '@latchkey/contract';

const BINARY_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

const DECIMAL_UNITS = ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s', 'PB/s'];

/** Bytes with three figures, such as `1.46 GiB`; a dash for what is not known. */
export function formatBytes(bytes: number | undefined): string {
  if (bytes === undefined) return '–';
  const step = bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10);
  const unit = Math.min(step, BINARY_UNITS.length - 1);
  return `${formatFigures(bytes / 1024 ** unit)} ${BINARY_UNITS[unit] ?? ''}`;
}

/** Bytes per second in decimal units, as the live page has them and as disks and networks are sold: `64.9 MB/s`. */
export function formatBytesPerSecond(rate: number | undefined): string {
  if (rate === undefined) return '–';
  const step = rate < 1 ? 0 : Math.floor(Math.log10(rate) / 3);
  const unit = Math.min(step, DECIMAL_UNITS.length - 1);
  return `${formatFigures(rate / 1000 ** unit)} ${DECIMAL_UNITS[unit] ?? ''}`;
}

/** A ratio as a percentage, to a tenth where it is small. */
export function formatRatio(ratio: number | undefined): string {
  if (ratio === undefined) return '–';
  const percent = ratio * 100;
  return `${percent.toFixed(percent > 0 && percent < 10 ? 1 : 0)} %`;
}

/** A short time in the unit that suits it. */
export function formatLatency(seconds: number | undefined): string {
  if (seconds === undefined) return '–';
  return seconds < 1 ? `${formatFigures(seconds * 1000)} ms` : `${formatFigures(seconds)} s`;
}

/** A long time in its two largest units, such as `3 d 4 h`. */
export function formatDuration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}

/** As the kernel tells it, with two digits also where they are zeros. */
export function formatLoad(load: number): string {
  return load.toFixed(2);
}

/** A figure with its unit; a dash for what is not known. */
export function formatFigure(value: number | undefined, unit = ''): string {
  return value === undefined ? '–' : `${formatFigures(value)} ${unit}`.trim();
}

/** Three figures at most after the first. */
function formatFigures(value: number): string {
  if (value >= 100 || Number.isInteger(value)) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}

/** What a GPU is called, with its number where others of the machine are called the same. */
export function nameGpu(
  { vendor, name, index, pci_address: address }: AgentGpu,
  gpus: readonly AgentGpu[],
): string {
  if (name === undefined) return `${vendor} ${address ?? index}`;
  const isAlone = gpus.filter((each) => each.name === name).length === 1;
  return isAlone ? name : `${index}: ${name}`;
}

/** By name, for what another agent says may hold anything beside them. */
const TROUBLES = [
  'under_voltage',
  'frequency_capped',
  'throttled',
  'soft_temperature_limit',
] as const satisfies readonly (keyof AgentRaspberryPi)[];

/** What holds a Raspberry Pi back now, in words. */
export function listPiTroubles(part: AgentRaspberryPi): string[] {
  return TROUBLES.filter((name) => part[name].now).map((name) => name.replaceAll('_', ' '));
}
