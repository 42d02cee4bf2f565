/** Bundles the console: hashed files, and the document that loads them. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

import { build, type OutputChunk, type Plugin } from 'rolldown';

import { operationsPlugin } from './operations-plugin.ts';

/** A file of the console, in every encoding that browsers ask for. */
export interface BundledFile {
  /** Contains a hash of the content. */
  readonly name: string;
  readonly type: string;
  readonly body: Buffer;
  readonly gzip: Buffer;
  readonly brotli: Buffer;
  /** Whether the document loads it, rather than a page. */
  readonly isFirstLoad: boolean;
}

/** The console, ready to be served below `/console`. */
export interface Bundle {
  /** The document of every page. */
  readonly document: string;
  readonly files: readonly BundledFile[];
}

const source = fileURLToPath(new URL('../src/', import.meta.url));

/** In cascade order. */
const STYLE_SHEETS = [
  'tokens',
  'frame',
  'page',
  'controls',
  'dialogs',
  'messages',
  'filters',
  'tables',
  'figures',
  'charts',
  'details',
  'link-lists',
  'licenses',
  'outreach',
];

/** @throws Error when a source has an error */
export async function bundleConsole(): Promise<Bundle> {
  const [chunks, styles, icon] = await Promise.all([
    bundleScripts(),
    readStyles(),
    readFile(`${source}icon.svg`, 'utf8'),
  ]);
  const entry = chunks.find(({ isEntry }) => isEntry);
  if (entry === undefined) throw new Error('the bundle has no entry');
  // Every page imports the runtime of the bundler; loading it early saves a round trip.
  const runtime = chunks.filter(({ name }) => name === 'rolldown-runtime');
  const imports = [...entry.imports, ...runtime.map(({ fileName }) => fileName)];
  const first = new Set([entry.fileName, ...imports]);
  const style = await createFile(nameByHash('style', 'css', styles), 'text/css', styles, true);
  const mark = await createFile(nameByHash('icon', 'svg', icon), 'image/svg+xml', icon, true);
  const scripts = await Promise.all(
    chunks.map(({ fileName, code }) =>
      createFile(fileName, 'text/javascript', code, first.has(fileName)),
    ),
  );
  return {
    document: renderDocument({
      entry: entry.fileName,
      imports,
      style: style.name,
      icon: mark.name,
    }),
    files: [style, mark, ...scripts],
  };
}

/** Returns a bundle as JSON, which `server/src/console/console-files.ts` reads. */
export function encodeBundle({ document, files }: Bundle): string {
  const encoded = files.map(({ name, type, body, gzip: gzipped, brotli }) => ({
    name,
    type,
    body: body.toString('base64'),
    gzip: gzipped.toString('base64'),
    brotli: brotli.toString('base64'),
  }));
  return JSON.stringify({ document, files: encoded });
}

async function bundleScripts(): Promise<OutputChunk[]> {
  const { output } = await build({
    input: { console: `${source}main.tsx` },
    platform: 'browser',
    plugins: [styleModules, operationsPlugin],
    write: false,
    tsconfig: fileURLToPath(new URL('../tsconfig.json', import.meta.url)),
    output: {
      format: 'esm',
      minify: true,
      // Annotations are for a further bundler, and 1.4 kB compressed.
      comments: { annotation: false },
      entryFileNames: '[name]-[hash].js',
      chunkFileNames: '[name]-[hash].js',
      // The parts that pages share are in the first load, so that a page is one more file.
      codeSplitting: {
        groups: [
          {
            name: 'parts',
            test: /contract\/src\/(?:constants|permissions)\.ts|console\/src\/(?:app|ui|shell)\/|node_modules\/@?preact/,
          },
          { debugName: 'area', name: nameArea },
        ],
      },
    },
    logLevel: 'warn',
  });
  return output.filter((each) => each.type === 'chunk');
}

/** A style sheet that a page imports is text of its module, so that it is loaded with the page. */
const styleModules: Plugin = {
  name: 'style-modules',
  async load(id) {
    if (!id.endsWith('.css')) return null;
    const style = JSON.stringify(minifyStyle(await readFile(id, 'utf8')));
    return { code: `export const style = ${style};`, moduleType: 'js' };
  },
};

/** Small areas that are visited together have one file. */
const JOINT_AREAS: Readonly<Record<string, string>> = {
  audit: 'administration',
  keys: 'administration',
  operators: 'administration',
  audience: 'mail',
  payments: 'sales',
  webhooks: 'sales',
  trials: 'sales',
};

/** Returns the file of a page's module: one for the pages of an area, because they are visited together, and compress better. */
function nameArea(id: string): string | null {
  const area = /console\/src\/pages\/(?<area>[\w-]+)\//.exec(id)?.groups?.['area'];
  return area === undefined ? null : (JOINT_AREAS[area] ?? area);
}

async function readStyles(): Promise<string> {
  const files = STYLE_SHEETS.map((name) => `${source}styles/${name}.css`);
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return texts.map(minifyStyle).join('');
}

function minifyStyle(text: string): string {
  return text
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?(?<sign>[{};,]) ?/g, '$<sign>')
    .trim();
}

function nameByHash(name: string, extension: string, text: string): string {
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 8);
  return `${name}-${hash}.${extension}`;
}

async function createFile(
  name: string,
  type: string,
  text: string,
  isFirstLoad: boolean,
): Promise<BundledFile> {
  const body = Buffer.from(text);
  const [gzipped, brotli] = await Promise.all([
    promisify(gzip)(body, { level: 9 }),
    promisify(brotliCompress)(body, {
      params: { [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
  ]);
  return { name, type: `${type}; charset=utf-8`, body, gzip: gzipped, brotli, isFirstLoad };
}

interface DocumentFiles {
  readonly entry: string;
  readonly imports: readonly string[];
  readonly style: string;
  readonly icon: string;
}

function renderDocument({ entry, imports, style, icon }: DocumentFiles): string {
  const preloads = imports.map(
    (name) => `    <link rel="modulepreload" href="/console/assets/${name}">`,
  );
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>Latchkey</title>
    <link rel="icon" href="/console/assets/${icon}">
    <link rel="stylesheet" href="/console/assets/${style}">
${preloads.join('\n')}
    <script type="module" src="/console/assets/${entry}"></script>
  </head>
  <body>
    <div id="app"></div>
    <noscript><p>The console needs JavaScript, which is switched off here.</p></noscript>
  </body>
</html>
`;
}
