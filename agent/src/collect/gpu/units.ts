import { toRatio } from '../../rate.ts';

const BYTES_PER_MEBIBYTE = 1_048_576;
const HERTZ_PER_MEGAHERTZ = 1_000_000;

export function toBytes(mebibytes: number | null): number | null {
  return mebibytes === null ? null : mebibytes * BYTES_PER_MEBIBYTE;
}

export function toHertz(megahertz: number | null): number | null {
  return megahertz === null ? null : megahertz * HERTZ_PER_MEGAHERTZ;
}

/** Null for what is no percentage: drivers give 65535 and the like for what they do not know. */
export function toPercentRatio(percent: number | null): number | null {
  return percent === null || percent < 0 || percent > 100 ? null : toRatio(percent / 100);
}

/** Part of a highest value that is known. */
export function toShare(value: number | null, highest: number | null): number | null {
  return value === null || highest === null || highest <= 0 ? null : toRatio(value / highest);
}
