import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import type { Plugin } from 'rolldown';

const run = promisify(execFile);

const PAGES = ['live', 'fleet'] as const;

const SOURCE = /\/agent\/src\/page\/page-source\.ts$/;

/** Replaces the module that builds pages from sources, which a package lacks. */
const READS_PAGE = `
  import { readFileSync } from 'node:fs';
  import { join } from 'node:path';
  export const readPageSource = async (name) => readFileSync(join(__dirname, 'assets', name + '.html'), 'utf8');`;

/** The pages that were built during bundling. */
export interface PackedPages {
  readonly plugin: Plugin;
  /** The documents by their paths beside the bundle; empty before the build, and if the program has no page. */
  readonly files: ReadonlyMap<string, Buffer>;
}

/** Builds the pages once, and makes the bundled agent read them. */
export function packPages(): PackedPages {
  const files = new Map<string, Buffer>();
  const plugin: Plugin = {
    name: 'pack-pages',
    load: {
      filter: { id: SOURCE },
      async handler(id) {
        const builder = join(dirname(id), 'build-page.ts');
        for (const name of PAGES) {
          const { stdout } = await run(process.execPath, [builder, name], { maxBuffer: 2 ** 24 });
          files.set(`assets/${name}.html`, Buffer.from(stdout));
        }
        return { code: READS_PAGE, moduleType: 'js' };
      },
    },
  };
  return { plugin, files };
}
