const BROWSERS = [
  ['Edge', /\bEdg(?:e|A|iOS)?\/(\d+)/],
  ['Opera', /\bOPR\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /\b(?:Chrome|CriOS)\/(\d+)/],
  ['Safari', /\bVersion\/(\d{1,4})[. ][^V]*\bSafari\//],
] as const;

const SYSTEMS = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
] as const;

/** In characters. */
const MAX_SHOWN_LENGTH = 60;

/** Returns the name of a browser and its system, such as `Firefox 140 on Linux`. */
export function describeBrowser(userAgent: string): string {
  const browser = BROWSERS.map(([name, pattern]) => [name, pattern.exec(userAgent)?.[1]]).find(
    ([, version]) => version !== undefined,
  );
  const [system] = SYSTEMS.find(([, pattern]) => pattern.test(userAgent)) ?? [];
  if (browser === undefined) return userAgent.slice(0, MAX_SHOWN_LENGTH) || 'Unknown browser';
  return browser.join(' ') + (system === undefined ? '' : ` on ${system}`);
}
