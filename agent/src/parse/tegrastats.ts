/** What `tegrastats` says of the GPU of a Jetson, in its own units; null where it does not say. */
export interface TegraReading {
  /** Of the machine: the GPU has none of its own. */
  readonly memoryUsedMebibytes: number;
  readonly memoryTotalMebibytes: number;
  readonly usagePercent: number | null;
  readonly clockMegahertz: number | null;
  readonly temperatureCelsius: number | null;
  readonly powerMilliwatts: number | null;
}

const LINE_FEED = 0x0a;

/** Which many lines of something else may follow the last reading. */
const MAX_LINES = 8;

/** `RAM 3482/7620MB`: megabytes of 1,048,576 bytes. */
const MEMORY = /\bRAM (\d{1,7})\/(\d{1,7})MB\b/;

/** `GR3D_FREQ 14%`, `14%@1300`, `14%@[1300,1300]` (a clock for each cluster), `@[1300]`, by the version. */
const LOAD = /\bGR3D_FREQ (?:(\d{1,3})%)?(?:@\[?(\d{1,6}))?/;

/** `GPU@24C`, `gpu@44.2C/44.2C`. */
const TEMPERATURE = /\bGPU@(-?\d{1,3}(?:\.\d{1,3})?)C/i;

/** Only rails that feed nothing but the GPU (now/average): `VDD_GPU_SOC` and `VDD_CPU_GPU_CV` feed others too. */
const POWER = / (?:VDD_GPU|VDD_SYS_GPU|POM_5V_GPU|GPU) (\d{1,7})(?:mW)?\/\d/;

/**
 * Reads the newest line of the output; what follows the last line feed is still being written.
 * @returns null when the last lines hold no reading
 */
export function parseTegrastats(bytes: Buffer): TegraReading | null {
  let end = bytes.lastIndexOf(LINE_FEED);
  for (let line = 0; end > 0 && line < MAX_LINES; line += 1) {
    const start = bytes.lastIndexOf(LINE_FEED, end - 1) + 1;
    const reading = readLine(bytes.toString('latin1', start, end));
    if (reading !== null) return reading;
    end = start - 1;
  }
  return null;
}

function readLine(line: string): TegraReading | null {
  const [, used, total] = MEMORY.exec(line) ?? [];
  // A GPU that is switched off is there, and says nothing of itself.
  if (used === undefined || total === undefined || !line.includes('CPU [')) return null;
  const [, load, clock] = LOAD.exec(line) ?? [];
  const usagePercent = toNumber(load);
  return {
    memoryUsedMebibytes: Number(used),
    memoryTotalMebibytes: Number(total),
    usagePercent: usagePercent !== null && usagePercent <= 100 ? usagePercent : null,
    clockMegahertz: toNumber(clock),
    temperatureCelsius: toTemperature(TEMPERATURE.exec(line)?.[1]),
    powerMilliwatts: toNumber(POWER.exec(line)?.[1]),
  };
}

function toNumber(word: string | undefined): number | null {
  return word === undefined ? null : Number(word);
}

/** A sensor without power says -256. */
function toTemperature(word: string | undefined): number | null {
  const celsius = toNumber(word);
  return celsius !== null && celsius > -256 ? celsius : null;
}
