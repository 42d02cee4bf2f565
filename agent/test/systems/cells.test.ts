/** Installations on whole systems: six of them for every change, all of them by `npm run test:systems`. */
import { after, describe, test } from 'node:test';

import { ALL_CELLS, nameCell, REPRESENTATIVE_CELLS } from './cells.ts';
import { whySystemsCannotRun } from './lacks.ts';
import { type Packages, unpackPackages } from './packages.ts';
import { runCell } from './run-cell.ts';
import { takeTurn } from './turn.ts';

const isWhole = process.env['LATCHKEY_SYSTEMS'] === 'all';

const skip = whySystemsCannotRun() ?? false;
let packages: Packages | null = null;
if (skip === false) {
  await takeTurn();
  packages = await unpackPackages();
  after(() => packages?.[Symbol.dispose]());
}

describe('the life of an installation', { concurrency: isWhole ? 2 : 1 }, () => {
  for (const cell of isWhole ? ALL_CELLS : REPRESENTATIVE_CELLS) {
    test(nameCell(cell), { skip }, async (t) => {
      if (packages === null) throw new Error('There are no packages.');
      await runCell(cell, packages, (line) => t.diagnostic(line));
    });
  }
});
