/** `node clients/conformance/vectors/generate.ts`: writes the files of vectors beside it. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { renderVectors } from './all-vectors.ts';

for (const [name, text] of renderVectors()) {
  writeFileSync(fileURLToPath(new URL(name, import.meta.url)), text);
}
