import type { AgentGpu, AgentHost } from '@latchkey/contract';

/** Formats figures for people: number and unit, joined by a no-break space. */

/** No-break space. */
const SPACE = '\u00a0';

/** Rounds to two or three significant digits. */
function round(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 || size === 0 ? 0 : size >= 9.995 ? 1 : 2);
}

function scale(value: number, base: number, units: readonly string[]): string {
  let scaled = value;
  let at = 0;
  while (Math.abs(scaled) >= base * 0.9995 && at < units.length - 1) {
    scaled /= base;
    at += 1;
  }
  const digits = at === 0 ? String(Math.round(scaled)) : round(scaled);
  return `${digits}${SPACE}${units[at] ?? ''}`;
}

export function formatBytes(bytes: number): string {
  return scale(bytes, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']);
}

export function formatByteRate(bytesPerSecond: number): string {
  return scale(bytesPerSecond, 1000, ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s']);
}

/** Formats a link speed without trailing zeros. */
export function formatBitRate(bitsPerSecond: number): string {
  const units = ['bit/s', 'kbit/s', 'Mbit/s', 'Gbit/s', 'Tbit/s'];
  const [digits, unit = ''] = scale(bitsPerSecond, 1000, units).split(SPACE);
  return `${Number(digits)}${SPACE}${unit}`;
}

export function formatHertz(hertz: number): string {
  return scale(hertz, 1000, ['Hz', 'kHz', 'MHz', 'GHz']);
}

export function formatPercent(ratio: number): string {
  const percent = ratio * 100;
  const digits = percent > 0 && percent < 9.95 ? percent.toFixed(1) : percent.toFixed(0);
  return `${digits}${SPACE}%`;
}

export function formatCelsius(celsius: number): string {
  return `${Math.round(celsius)}${SPACE}°C`;
}

export function formatWatts(watts: number): string {
  return `${watts.toFixed(watts < 10 ? 1 : 0)}${SPACE}W`;
}

export function formatAmount(value: number): string {
  return value >= 1000 ? scale(value, 1000, ['', 'k', 'M', 'G']) : round(value);
}

/** Formats a count: exact, unless it is very large. */
export function formatCount(count: number): string {
  return count < 100_000 ? String(count) : formatAmount(count);
}

/** Formats a latency. */
export function formatLatency(seconds: number): string {
  if (seconds < 0.001) return `${(seconds * 1_000_000).toFixed(0)}${SPACE}µs`;
  if (seconds < 1) return `${round(seconds * 1000)}${SPACE}ms`;
  return `${round(seconds)}${SPACE}s`;
}

/** Formats a duration in its two largest units, such as `3 d 4 h`. */
export function formatDuration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  if (days > 0) return `${days}${SPACE}d ${hours}${SPACE}h`;
  if (hours > 0) return `${hours}${SPACE}h ${minutes % 60}${SPACE}min`;
  return minutes > 0 ? `${minutes}${SPACE}min` : `${Math.floor(seconds)}${SPACE}s`;
}

/** Formats the local time of day. */
export function formatTime(unixSeconds: number, withSeconds = false): string {
  const date = new Date(unixSeconds * 1000);
  const parts = [date.getHours(), date.getMinutes(), ...(withSeconds ? [date.getSeconds()] : [])];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}

/** Lists the facts of a machine, most important first. */
export function describeHost(host: AgentHost): string[] {
  const { os_name: os, kernel_version: kernel, memory_total_bytes: memory } = host;
  const parts = [
    os,
    kernel === undefined ? undefined : `Linux ${kernel}`,
    host.architecture,
    host.cpu_model,
    memory === undefined ? undefined : formatBytes(memory),
    host.machine_model ?? (host.machine_type === 'physical' ? undefined : host.machine_type),
  ];
  return parts.filter((part) => part !== undefined);
}

const VENDORS = { nvidia: 'NVIDIA', amd: 'AMD', intel: 'Intel' } as const;

/** Names a GPU, with its index when others have the same name. */
export function nameGpu({ vendor, name, index }: AgentGpu, gpus: readonly AgentGpu[]): string {
  if (name === undefined) return `${VENDORS[vendor]} ${index}`;
  const isAlone = gpus.filter((each) => each.name === name).length === 1;
  return isAlone ? name : `${index}: ${name}`;
}
