import type { AgentGpu, AgentRaspberryPi } from '@latchkey/contract';

const BINARY_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

const DECIMAL_UNITS = ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s', 'PB/s'];

/** Formats bytes with three digits, such as `1.46 GiB`; a dash for an unknown value. */
export function formatBytes(bytes: number | undefined): string {
  if (bytes === undefined) return '–';
  const step = bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10);
  const unit = Math.min(step, BINARY_UNITS.length - 1);
  return `${formatFigures(bytes / 1024 ** unit)} ${BINARY_UNITS[unit] ?? ''}`;
}

/** Formats bytes per second in decimal units, as on the live page: `64.9 MB/s`. */
export function formatBytesPerSecond(rate: number | undefined): string {
  if (rate === undefined) return '–';
  const step = rate < 1 ? 0 : Math.floor(Math.log10(rate) / 3);
  const unit = Math.min(step, DECIMAL_UNITS.length - 1);
  return `${formatFigures(rate / 1000 ** unit)} ${DECIMAL_UNITS[unit] ?? ''}`;
}

/** Formats a ratio as a percentage, with a decimal below 10 %. */
export function formatRatio(ratio: number | undefined): string {
  if (ratio === undefined) return '–';
  const percent = ratio * 100;
  return `${percent.toFixed(percent > 0 && percent < 10 ? 1 : 0)} %`;
}

/** Formats a short time in milliseconds or seconds. */
export function formatLatency(seconds: number | undefined): string {
  if (seconds === undefined) return '–';
  return seconds < 1 ? `${formatFigures(seconds * 1000)} ms` : `${formatFigures(seconds)} s`;
}

/** Formats a long time in its two largest units, such as `3 d 4 h`. */
export function formatDuration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}

/** Formats a load average with two decimals, as the kernel does. */
export function formatLoad(load: number): string {
  return load.toFixed(2);
}

/** Formats a figure with its unit; a dash for an unknown value. */
export function formatFigure(value: number | undefined, unit = ''): string {
  return value === undefined ? '–' : `${formatFigures(value)} ${unit}`.trim();
}

/** Formats a number with three significant digits. */
function formatFigures(value: number): string {
  if (value >= 100 || Number.isInteger(value)) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}

/** Names a GPU, with its index when others have the same name. */
export function nameGpu(
  { vendor, name, index, pci_address: address }: AgentGpu,
  gpus: readonly AgentGpu[],
): string {
  if (name === undefined) return `${vendor} ${address ?? index}`;
  const isAlone = gpus.filter((each) => each.name === name).length === 1;
  return isAlone ? name : `${index}: ${name}`;
}

/** By name, since another agent's message may contain other fields. */
const PI_PROBLEMS = [
  'under_voltage',
  'frequency_capped',
  'throttled',
  'soft_temperature_limit',
] as const satisfies readonly (keyof AgentRaspberryPi)[];

/** Lists the present problems of a Raspberry Pi in words. */
export function listPiProblems(part: AgentRaspberryPi): string[] {
  return PI_PROBLEMS.filter((name) => part[name].now).map((name) => name.replaceAll('_', ' '));
}
