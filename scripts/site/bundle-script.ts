import { fileURLToPath } from 'node:url';

import { build } from 'rolldown';

/** Bundles what pages run: one classic script, which browsers load from the disk, too. */
export async function bundleScript(): Promise<string> {
  const { output } = await build({
    input: fileURLToPath(new URL('browser/site.ts', import.meta.url)),
    platform: 'browser',
    write: false,
    output: { format: 'iife', minify: true },
  });
  return output[0].code;
}
