import MiniSearch from 'minisearch';

import { SEARCH_OPTIONS } from './browser/search-options.ts';
import { pagePath } from './links.ts';
import type { RenderedDocument } from './render-document.ts';

/** Enough to recognize a section by. */
const EXCERPT_CHARACTERS = 160;

/** Returns a script that passes the index of all sections to the search; a browser loads it from the disk, too. */
export function createSearchIndex(documents: ReadonlyMap<string, RenderedDocument>): string {
  const index = new MiniSearch(SEARCH_OPTIONS);
  for (const [file, { title, sections }] of documents) {
    index.addAll(
      sections.map(({ anchor, heading, text }) => ({
        id: `${pagePath(file)}#${anchor}`,
        title,
        heading,
        text,
        excerpt: shorten(text),
      })),
    );
  }
  return `globalThis.latchkeySearchIndex = ${JSON.stringify(JSON.stringify(index))};\n`;
}

function shorten(text: string): string {
  if (text.length <= EXCERPT_CHARACTERS) return text;
  return `${text.slice(0, text.lastIndexOf(' ', EXCERPT_CHARACTERS))} …`;
}
