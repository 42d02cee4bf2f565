/**
 * Prints the live page as one document with uPlot, styles and scripts. The agent runs this from its sources in a child process,
 * because the type stripper needs 20 MB; the packager runs it once and packs the output (`scripts/package/page.ts`). It works
 * without development dependencies, so without a bundler.
 */
import { readFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

import { linkScripts } from './link-scripts.ts';

const { resolve } = createRequire(import.meta.url);

function readOwn(path: string): string {
  return readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');
}

function readUplot(path: string): string {
  return readFileSync(resolve(`uplot/dist/${path}`), 'utf8').trim();
}

function readScript(file: string): string {
  return stripTypeScriptTypes(readOwn(`browser/${file}`));
}

/** In cascade order. */
const STYLE_SHEETS = [
  'theme',
  'frame',
  'cards',
  'charts',
  'meters',
  'tables',
  'token-form',
  'media',
];

const parts: Readonly<Record<string, string>> = {
  styles: [
    readUplot('uPlot.min.css'),
    ...STYLE_SHEETS.map((name) => readOwn(`styles/${name}.css`)),
  ].join('\n'),
  uplot: readUplot('uPlot.iife.min.js'),
  scripts: linkScripts('main.ts', readScript),
};

process.stdout.write(
  readOwn('page.template.html').replaceAll(
    /\/\* (?<name>styles|uplot|scripts) \*\//g,
    (_, name: string) => parts[name] ?? '',
  ),
);
