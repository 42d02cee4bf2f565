import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { after, before, test } from 'node:test';
import { runInNewContext } from 'node:vm';

import MiniSearch from 'minisearch';

import { SEARCH_OPTIONS } from './browser/search-options.ts';
import { buildSite } from './build-site.ts';

let folder: string;
const pages = new Map<string, string>();

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-site-'));
  await buildSite(folder);
  for (const path of globSync('**/*.html', { cwd: folder })) {
    pages.set(path, await readFile(join(folder, path), 'utf8'));
  }
});
after(() => rm(folder, { recursive: true, force: true }));

/** Returns the values of an attribute in all pages. */
function readAttribute(pattern: RegExp): { page: string; value: string }[] {
  return [...pages].flatMap(([page, html]) =>
    [...html.matchAll(pattern)].map(([, value = '']) => ({ page, value })),
  );
}

test('contains the index, the documents and the pages that they link to', () => {
  const expected = ['index.html', 'docs/first-steps.html', 'SECURITY.html', 'clients/README.html'];
  assert.deepEqual(
    expected.filter((path) => !pages.has(path)),
    [],
  );
});

test('links only to pages, headings and files of the site', () => {
  const links = readAttribute(/<a [^>]*href="([^"]+)"/g).filter(
    ({ value }) => !/^[a-z]+:/.test(value),
  );
  assert.ok(links.length > 1000);
  const broken = links.filter(({ page, value }) => {
    const [path = '', anchor] = value.split('#');
    const target = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(folder, target))) return true;
    return anchor !== undefined && !pages.get(target)?.includes(`id="${anchor}"`);
  });
  assert.deepEqual(broken, []);
});

test('requests nothing from other hosts, and runs no inline script', () => {
  const resources = readAttribute(
    /<(?:script|img|source|link) [^>]*?(?:src|srcset|href)="([^"]+)"/g,
  );
  assert.ok(resources.length > pages.size);
  assert.deepEqual(
    resources.filter(({ page, value }) => !existsSync(join(folder, dirname(page), value))),
    [],
  );
  assert.deepEqual(readAttribute(/<script(?![^>]*src=)([^>]*)>/g), []);
});

test('leads from the index through every page of the navigation and back', () => {
  const next = (page: string) => /<a href="([^"]+)">Next: /.exec(pages.get(page) ?? '')?.[1];
  const seen: string[] = [];
  for (let page = 'index.html'; !seen.includes(page);) {
    seen.push(page);
    const link = next(page);
    if (link !== undefined) page = normalize(join(dirname(page), link));
  }
  const entries = /<nav[^]*?<\/nav>/.exec(pages.get('index.html') ?? '')?.[0] ?? '';
  assert.equal(seen.length, (entries.match(/<a /g) ?? []).length + 1);
});

test('finds a section by the beginning of its words', async () => {
  const context: { latchkeySearchIndex?: string } = {};
  runInNewContext(await readFile(join(folder, 'search-index.js'), 'utf8'), context);
  const index = MiniSearch.loadJSON(context.latchkeySearchIndex ?? '', SEARCH_OPTIONS);
  const [first] = index.search('rotat sign key');
  assert.match(String(first?.id), /^docs\/operations\/keys\.html#/);
});
