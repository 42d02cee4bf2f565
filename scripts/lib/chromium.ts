import { existsSync } from 'node:fs';

import { chromium, type Browser } from 'playwright-core';

const PROGRAMS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const program = process.env['CHROMIUM'] ?? PROGRAMS.find((each) => existsSync(each));

/** The reason to skip tests that need a browser; false when one is installed. */
export const lacksChromium =
  program === undefined
    ? 'Chromium is not installed (Debian: apt-get install chromium; elsewhere set CHROMIUM)'
    : false;

/** Starts the installed Chromium. @param args further arguments of its command line */
export function launchChromium(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    ...(program === undefined ? {} : { executablePath: program }),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', ...args],
  });
}
