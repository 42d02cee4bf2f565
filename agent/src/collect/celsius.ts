/**
 * A sensor that is not connected tells of the absolute zero, 210 °C or 65261.85 °C, a graphics card that just fell asleep
 * of 511 °C; nothing real is outside of this.
 */
const COLDEST_CELSIUS = -60;
const HOTTEST_CELSIUS = 200;

/** From the thousandths of a degree in which the kernel tells temperatures; null when it cannot be true. */
export function toCelsius(thousandths: number | null): number | null {
  if (thousandths === null) return null;
  const celsius = thousandths / 1000;
  return celsius > COLDEST_CELSIUS && celsius < HOTTEST_CELSIUS ? celsius : null;
}
