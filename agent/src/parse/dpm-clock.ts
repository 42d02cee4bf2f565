/**
 * Reads pp_dpm_sclk and pp_dpm_mclk of amdgpu: a line for each clock that the card can have, a star behind the one it
 * has (`1: 800Mhz *`).
 * @returns in megahertz; null where none has the star
 */
export function parseDpmClock(text: string): number | null {
  const match = /^\s*\w+: (\d{1,6})mhz \*\s*$/im.exec(text)?.[1];
  return match === undefined ? null : Number(match);
}
