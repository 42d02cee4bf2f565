import { readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';

import { repository } from '../lib/steps.ts';

/** The page that lists the others in reading order. */
export const INDEX = 'docs/README.md';

/** A page in the navigation. */
export interface Entry {
  /** The path of its Markdown file in the repository. */
  readonly file: string;
  readonly title: string;
}

/** A part of the documentation: a heading of the index, and the documents that it links to. */
export interface Chapter {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** Reads the chapters from the index; a page belongs to the first chapter that links to it. */
export function readChapters(): Chapter[] {
  const seen = new Set<string>();
  const [, ...sections] = readFileSync(join(repository, INDEX), 'utf8').split(/^## /m);
  return sections.map((section) => {
    const [title = '', ...lines] = section.split('\n');
    const links = [...lines.join('\n').matchAll(/\]\(([\w./-]+\.md)[^)]*\)/g)];
    const files = links.map(([, link = '']) => normalize(join('docs', link)));
    const entries = files.filter((file) => !seen.has(file) && seen.add(file)).map(readEntry);
    return { title, entries };
  });
}

function readEntry(file: string): Entry {
  const heading = /^# (.+)$/m.exec(readFileSync(join(repository, file), 'utf8'))?.[1];
  if (heading === undefined) throw new Error(`${file} has no title.`);
  return { file, title: heading };
}
