import { existsSync } from 'node:fs';

import { installPackages } from './install-packages.ts';

/** Installs Chromium for the tests of the console, if it is missing and this process can install packages. */
export async function installChromium(stop: AbortSignal): Promise<void> {
  if (existsSync('/usr/bin/chromium')) return;
  await installPackages(['chromium fonts-dejavu-core'], 'the tests of the console', stop);
}
