import { join } from 'node:path';

import { every } from '../../collector.ts';
import { present, toHertz, toPercentRatio } from '../../metric-values.ts';
import type { BackgroundReader } from '../../read/background-reader.ts';
import { listDirectory, parseNumber } from '../../read/small-file.ts';
import { type Card, type Figures, type FiguresReader, openHwmon } from './cards.ts';

/**
 * Reads the figures of an AMD card (kernel documentation, gpu/amdgpu/thermal and driver-misc). The driver requests most
 * figures from the card's own processor, which may block, so they are read in the background.
 */
export function openAmdReader(card: Card, reader: BackgroundReader): FiguresReader {
  const files = new CardFiles(reader);
  const temperature = findTemperature(card);
  return {
    read(atMs) {
      const figures = readFigures(card, files, temperature);
      files.refresh(atMs);
      return figures;
    },
    close: () => files.close(),
  };
}

/** The temperature at the edge of the chip; accelerators (MI300) measure only the hotspot. */
function findTemperature({ hwmon }: Card): string {
  const names = hwmon === null ? [] : listDirectory(hwmon);
  return names.includes('temp1_input') ? 'temp1_input' : 'temp2_input';
}

function readFigures(
  { device, hwmon: directory }: Card,
  files: CardFiles,
  temperature: string,
): Figures {
  const number = (name: string): number | null => files.number(join(device, name));
  const hwmon = openHwmon(directory, (path) => files.number(path));
  const [average, now] = [hwmon.watts('power1_average'), hwmon.watts('power1_input')];
  return present({
    usage_ratio: toPercentRatio(number('gpu_busy_percent')),
    memory_used_bytes: number('mem_info_vram_used'),
    memory_total_bytes: number('mem_info_vram_total'),
    host_memory_used_bytes: number('mem_info_gtt_used'),
    temperature_celsius: hwmon.celsius(temperature),
    // Newer cards report only the present power.
    power_watts: average ?? now,
    power_limit_watts: hwmon.limitWatts('power1_cap'),
    fan_ratio: hwmon.fanRatio(),
    frequency_hertz: readClock(files, join(device, 'pp_dpm_sclk')),
    memory_frequency_hertz: readClock(files, join(device, 'pp_dpm_mclk')),
  });
}

function readClock(files: CardFiles, path: string): number | null {
  const text = files.text(path);
  return text === null ? null : toHertz(parseDpmClock(text));
}

/**
 * Parses pp_dpm_sclk and pp_dpm_mclk of amdgpu: a line for each possible clock, with a star behind the present one
 * (`1: 800Mhz *`).
 * @returns megahertz; null without a star
 */
function parseDpmClock(text: string): number | null {
  const match = /^ *\w+: (\d{1,6})mhz \* *$/im.exec(text)?.[1];
  return match === undefined ? null : Number(match);
}

/** How often unreadable files are retried. */
const RETRY_INTERVAL_MS = 10_000;

/** The files of one card, read in the background after each tick. */
class CardFiles {
  readonly #reader: BackgroundReader;
  readonly #paths = new Set<string>();
  readonly #isRetryDue = every(RETRY_INTERVAL_MS);

  constructor(reader: BackgroundReader) {
    this.#reader = reader;
  }

  text(path: string): string | null {
    this.#paths.add(path);
    return this.#reader.textOf(path);
  }

  number(path: string): number | null {
    return parseNumber(this.text(path));
  }

  /** Starts reading all files that were used. */
  refresh(atMs: number): void {
    const isRetryDue = this.#isRetryDue(atMs);
    const paths = [...this.#paths];
    this.#reader.refresh(
      isRetryDue ? paths : paths.filter((path) => this.#reader.textOf(path) !== null),
    );
  }

  close(): void {
    this.#reader.closeFiles(this.#paths);
  }
}
