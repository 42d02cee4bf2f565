import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import type { Plugin } from 'rolldown';

const run = promisify(execFile);

/** The file of the page, beside the bundle. */
export const PAGE = 'assets/page.html';

const SOURCE = /\/agent\/src\/page\/page-source\.ts$/;

/** Replaces the module that builds the page from sources, which a package lacks. */
const READS_PAGE = `
  import { readFileSync } from 'node:fs';
  import { join } from 'node:path';
  export const readPageSource = async () => readFileSync(join(__dirname, '${PAGE}'), 'utf8');`;

/** The page that was built during bundling. */
export interface PackedPage {
  readonly plugin: Plugin;
  /** The document; null before the build, and if the program has no page. */
  read(): string | null;
}

/** Builds the live page once, and makes the bundled agent read it. */
export function packPage(): PackedPage {
  let page: string | null = null;
  const plugin: Plugin = {
    name: 'pack-page',
    load: {
      filter: { id: SOURCE },
      async handler(id) {
        const builder = join(dirname(id), 'build-page.ts');
        const { stdout } = await run(process.execPath, [builder], { maxBuffer: 2 ** 24 });
        page = stdout;
        return { code: READS_PAGE, moduleType: 'js' };
      },
    },
  };
  return { plugin, read: () => page };
}
