import { join } from 'node:path';

import { parseDpmClock } from '../../parse/dpm-clock.ts';
import { present } from '../../present.ts';
import type { BackgroundReader } from '../../read/background-reader.ts';
import { listDirectory } from '../../read/small-file.ts';
import { CardFiles } from './card-files.ts';
import type { Card } from './cards.ts';
import type { Figures, FiguresReader } from './figures.ts';
import { openHwmon } from './hwmon.ts';
import { toHertz, toPercentRatio } from './units.ts';

/**
 * The figures of a card of AMD (kernel documentation, gpu/amdgpu/thermal and driver-misc). The driver asks the card's
 * own processor for most of them, which takes long when that is in trouble: so they are read in the background.
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
    close: () => files.forget(),
  };
}

/** At the edge of the chip; accelerators (MI300) measure only where it is hottest. */
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
    // Newer cards only say what is drawn now.
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
