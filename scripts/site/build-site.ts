import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { repository } from '../lib/steps.ts';
import { INDEX, readChapters } from './chapters.ts';
import { pagePath } from './links.ts';
import { type RenderedDocument, renderDocument } from './render-document.ts';
import { renderPage } from './render-page.ts';
import { bundleScript } from './bundle-script.ts';
import { createSearchIndex } from './search-index.ts';

/** The styles that the site shares with the console, then its own. */
const STYLE_SHEETS = ['console/src/styles/tokens.css', 'scripts/site/browser/site.css'];

/**
 * Builds the site: the index, and every document that it or another page links to.
 * @param folder is replaced
 * @throws Error if a link leads nowhere
 */
export async function buildSite(folder: string): Promise<{ readonly pages: number }> {
  const documents = await renderDocuments();
  const chapters = readChapters();
  await rm(folder, { recursive: true, force: true });
  const write = async (path: string, content: string): Promise<void> => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  };
  for (const [file, document] of documents) {
    await write(pagePath(file), renderPage(file, document, chapters));
  }
  for (const file of listFiles(documents)) await copy(file, folder);
  const styles = STYLE_SHEETS.map((file) => readFile(join(repository, file), 'utf8'));
  await write('site.css', (await Promise.all(styles)).join('\n'));
  await write('site.js', await bundleScript());
  await write('search-index.js', createSearchIndex(documents));
  await copyFile(join(repository, 'console/src/icon.svg'), join(folder, 'icon.svg'));
  return { pages: documents.size };
}

/** Renders the index and what can be reached from it. */
async function renderDocuments(): Promise<Map<string, RenderedDocument>> {
  const documents = new Map<string, RenderedDocument>();
  const waiting = [INDEX];
  for (const file of waiting) {
    if (documents.has(file)) continue;
    const document = renderDocument(file, await readFile(join(repository, file), 'utf8'));
    documents.set(file, document);
    waiting.push(...document.targets.flatMap((each) => (each.kind === 'page' ? [each.file] : [])));
  }
  return documents;
}

function listFiles(documents: ReadonlyMap<string, RenderedDocument>): Set<string> {
  const targets = [...documents.values()].flatMap((document) => document.targets);
  return new Set(targets.flatMap((target) => (target.kind === 'file' ? [target.file] : [])));
}

async function copy(file: string, folder: string): Promise<void> {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await copyFile(join(repository, file), join(folder, file));
}
