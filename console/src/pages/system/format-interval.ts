const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Formats a duration in its two largest units: `5 minutes`, `2 days 3 hours`. */
export function formatInterval(seconds: number): string {
  const index = UNITS.findIndex(([, size]) => seconds >= size);
  if (index < 0) return 'moment';
  const [first, second] = UNITS.slice(index);
  if (first === undefined) return '';
  const rest = second === undefined ? 0 : Math.floor((seconds % first[1]) / second[1]);
  const whole = count(Math.floor(seconds / first[1]), first[0]);
  return second === undefined || rest === 0 ? whole : `${whole} ${count(rest, second[0])}`;
}

function count(number: number, unit: string): string {
  return `${number} ${unit}${number === 1 ? '' : 's'}`;
}

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Formats a size in decimal units: `48.2 MB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1_000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${BYTE_UNITS[power]}`;
}

const SHORT = { day: 'd', hour: 'h', minute: 'min', second: 's' } as const;

/** Formats a duration in its largest unit: `21 min`. */
export function formatUptime(seconds: number): string {
  const [unit, size] = UNITS.find(([, each]) => seconds >= each) ?? ['second', 1];
  return `${Math.floor(seconds / size)} ${SHORT[unit]}`;
}
