/** `npm run build -w clients/typescript`: writes `dist/`, which `npm pack` packs. */
import { buildPackage } from './package.ts';

for (const file of await buildPackage()) console.log(`dist/${file}`);
