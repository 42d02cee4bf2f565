/**
 * Prints a page as one document with its styles and scripts: `node build-page.ts live`. The agent runs this from its sources in a
 * child process, because the type stripper needs 20 MB; the packager runs it once and packs the output
 * (`scripts/package/page.ts`). It works without development dependencies, so without a bundler.
 */
import { readFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

import { readFleetStyles } from './fleet/read-styles.ts';
import { linkScripts } from './link-scripts.ts';
import type { PageName } from './page-source.ts';

const { resolve } = createRequire(import.meta.url);

function readOwn(path: string): string {
  return readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');
}

function readUplot(path: string): string {
  return readFileSync(resolve(`uplot/dist/${path}`), 'utf8').trim();
}

function readScript(file: string): string {
  return stripTypeScriptTypes(readOwn(file));
}

/** In cascade order. */
const LIVE_STYLES = [
  'theme',
  'frame',
  'cards',
  'charts',
  'meters',
  'tables',
  'token-form',
  'media',
].map((name) => `styles/${name}.css`);

/** The parts of a page, by their names in its template. */
const PAGES: Readonly<Record<PageName, () => [template: string, Record<string, string>]>> = {
  live: () => [
    'page.template.html',
    {
      styles: [readUplot('uPlot.min.css'), ...LIVE_STYLES.map(readOwn)].join('\n'),
      uplot: readUplot('uPlot.iife.min.js'),
      scripts: linkScripts('browser/main.ts', readScript),
    },
  ],
  fleet: () => [
    'fleet/page.template.html',
    {
      styles: [readOwn('styles/theme.css'), readOwn('fleet/document.css'), readFleetStyles()].join(
        '\n',
      ),
      scripts: linkScripts('fleet/main.ts', readScript),
    },
  ],
};

const [template, parts] = PAGES[process.argv[2] === 'fleet' ? 'fleet' : 'live']();
process.stdout.write(
  readOwn(template).replaceAll(
    /\/\* (?<name>styles|uplot|scripts) \*\//g,
    (_, name: string) => parts[name] ?? '',
  ),
);
