/** `npm run build:console`: stores the bundled console, for a package without the bundler. */
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { bundleConsole, encodeBundle } from '../console/build/bundle.ts';

const folder = fileURLToPath(new URL('../console/dist/', import.meta.url));

await mkdir(folder, { recursive: true });
await writeFile(`${folder}console.json`, encodeBundle(await bundleConsole()));
console.log(`Wrote ${folder}console.json`);
