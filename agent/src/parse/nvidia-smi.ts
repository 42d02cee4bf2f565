import type { AgentGpu } from '@latchkey/contract';

import { present, toBytes, toHertz, toPercentRatio } from '../metric-values.ts';

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
 * Parses the newest line of each card, from the end backwards. Other lines (messages, truncated lines) are skipped; the text after
 * the last line feed is incomplete.
 * @param fields the queried fields, in order
 */
export function parseNvidiaSmi(bytes: Buffer, fields: readonly NvidiaField[]): AgentGpu[] {
  const gpus = new Map<number, AgentGpu>();
  let end = bytes.lastIndexOf(LINE_FEED);
  while (end > 0 && gpus.size < MAX_GPUS) {
    const start = bytes.lastIndexOf(LINE_FEED, end - 1) + 1;
    const gpu = readLine(bytes.toString('utf8', start, end).trim(), fields);
    if (gpu !== null) {
      if (gpus.has(gpu.index)) break;
      gpus.set(gpu.index, gpu);
    }
    end = start - 1;
  }
  return [...gpus.values()].sort((a, b) => a.index - b.index);
}

/** Returns the field that this version of the program rejects, together with the whole query; null without one. */
export function findUnknownField(text: string): string | null {
  return /Field "([^"]{1,100})" is not a valid field to query/.exec(text)?.[1] ?? null;
}

function readLine(line: string, fields: readonly NvidiaField[]): AgentGpu | null {
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
  return present({
    vendor: 'nvidia' as const,
    index,
    name: toName(values.get('name')),
    uuid: toUuid(values.get('uuid')),
    pci_address: toPciAddress(values.get('pci.bus_id')),
    usage_ratio: toPercentRatio(number('utilization.gpu')),
    memory_used_bytes: toBytes(number('memory.used')),
    memory_total_bytes: toBytes(number('memory.total')),
    temperature_celsius: number('temperature.gpu'),
    power_watts: number('power.draw'),
    power_limit_watts: number('power.limit'),
    fan_ratio: toPercentRatio(number('fan.speed')),
    frequency_hertz: toHertz(number('clocks.current.graphics')),
    memory_frequency_hertz: toHertz(number('clocks.current.memory')),
  });
}

/** Unknown values are words: `[N/A]`, `[Not Supported]`, `[Unknown Error]`, `[GPU requires reset]`. */
function toNumber(word: string | undefined): number | null {
  return word !== undefined && /^\d{1,12}(\.\d{1,6})?$/.test(word) ? Number(word) : null;
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
