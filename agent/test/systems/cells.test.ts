/** Installations on whole systems: every release, web server, mode and mutual TLS. */
import { after, describe, test } from 'node:test';

import { ALL_CELLS, nameCell } from './cells.ts';
import { findMissingRequirement } from './requirements.ts';
import { unpackPackages } from './packages.ts';
import { runCell } from './run-cell.ts';

const skip = findMissingRequirement() ?? false;
const packages = skip === false ? await unpackPackages() : null;
after(() => packages?.[Symbol.dispose]());

describe('the life cycle of an installation', { concurrency: 2 }, () => {
  for (const cell of ALL_CELLS) {
    test(nameCell(cell), { skip }, async (t) => {
      if (packages === null) throw new Error('There are no packages.');
      await runCell(cell, packages, (line) => t.diagnostic(line));
    });
  }
});
