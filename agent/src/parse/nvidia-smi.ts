/** A reading of `nvidia-smi`, in its own units; null for what it does not report. */
export interface NvidiaReading {
  readonly index: number;
  readonly uuid: string | null;
  readonly pciAddress: string | null;
  readonly name: string | null;
  readonly usagePercent: number | null;
  readonly memoryUsedMebibytes: number | null;
  readonly memoryTotalMebibytes: number | null;
  readonly temperatureCelsius: number | null;
  readonly powerWatts: number | null;
  readonly powerLimitWatts: number | null;
  readonly fanPercent: number | null;
  readonly clockMegahertz: number | null;
  readonly memoryClockMegahertz: number | null;
}

/** The queried fields (`nvidia-smi --help-query-gpu`). The name is last because it may contain a comma. */
export const NVIDIA_FIELDS = [
  'index',
  'uuid',
  'pci.bus_id',
  'utilization.gpu',
  'memory.used',
  'memory.total',
  'temperature.gpu',
  'power.draw',
  'power.limit',
  'fan.speed',
  'clocks.current.graphics',
  'clocks.current.memory',
  'name',
] as const;

export type NvidiaField = (typeof NVIDIA_FIELDS)[number];

/** Even the largest machines have 16. */
const MAX_GPUS = 64;

const SEPARATOR = ', ';

const LINE_FEED = 0x0a;

/**
 * Parses the newest line of each card, from the end backwards. Other lines (messages, truncated lines) are skipped, and what
 * follows the last line feed is incomplete.
 * @param fields the queried fields, in order
 */
export function parseNvidiaSmi(bytes: Buffer, fields: readonly NvidiaField[]): NvidiaReading[] {
  const readings = new Map<number, NvidiaReading>();
  let end = bytes.lastIndexOf(LINE_FEED);
  while (end > 0 && readings.size < MAX_GPUS) {
    const start = bytes.lastIndexOf(LINE_FEED, end - 1) + 1;
    const reading = readLine(bytes.toString('utf8', start, end).trim(), fields);
    if (reading !== null) {
      if (readings.has(reading.index)) break;
      readings.set(reading.index, reading);
    }
    end = start - 1;
  }
  return [...readings.values()].sort((a, b) => a.index - b.index);
}

/** Returns the field that this version of the program rejects, together with the whole query; null without one. */
export function findUnknownField(text: string): string | null {
  return /Field "([^"]{1,100})" is not a valid field to query/.exec(text)?.[1] ?? null;
}

function readLine(line: string, fields: readonly NvidiaField[]): NvidiaReading | null {
  const words = line.split(SEPARATOR);
  if (words.length < fields.length) return null;
  const values = new Map<NvidiaField, string>(
    fields.map((field, at) => [
      field,
      field === 'name' ? words.slice(at).join(SEPARATOR) : (words[at] ?? ''),
    ]),
  );
  const number = (field: NvidiaField): number | null => toNumber(values.get(field));
  const index = number('index');
  if (index === null || !Number.isInteger(index)) return null;
  return {
    index,
    uuid: toUuid(values.get('uuid')),
    pciAddress: toPciAddress(values.get('pci.bus_id')),
    name: toName(values.get('name')),
    usagePercent: toPercent(number('utilization.gpu')),
    memoryUsedMebibytes: number('memory.used'),
    memoryTotalMebibytes: number('memory.total'),
    temperatureCelsius: number('temperature.gpu'),
    powerWatts: number('power.draw'),
    powerLimitWatts: number('power.limit'),
    fanPercent: number('fan.speed'),
    clockMegahertz: number('clocks.current.graphics'),
    memoryClockMegahertz: number('clocks.current.memory'),
  };
}

/** Unknown values are words: `[N/A]`, `[Not Supported]`, `[Unknown Error]`, `[GPU requires reset]`. */
function toNumber(word: string | undefined): number | null {
  return word !== undefined && /^\d{1,12}(\.\d{1,6})?$/.test(word) ? Number(word) : null;
}

function toPercent(value: number | null): number | null {
  return value !== null && value <= 100 ? value : null;
}

function toUuid(word: string | undefined): string | null {
  return word !== undefined && /^GPU-[\da-f-]{8,60}$/i.test(word) ? word : null;
}

function toName(word: string | undefined): string | null {
  return word === undefined || word === '' || word.startsWith('[') ? null : word.slice(0, 200);
}

/** The program writes the domain with eight digits in capitals; the kernel's names have four. */
function toPciAddress(word: string | undefined): string | null {
  const match = /^(?:[\da-f]{4})?([\da-f]{4}:[\da-f]{2}:[\da-f]{2}\.\d)$/i.exec(word ?? '');
  return match?.[1]?.toLowerCase() ?? null;
}
