import { statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

import { repository } from '../lib/steps.ts';
import { INDEX } from './chapters.ts';

/** Returns the path of a document's page in the site. */
export function pagePath(file: string): string {
  return file === INDEX ? 'index.html' : file.replace(/\.md$/, '.html');
}

/** What a document links to. */
export type Target =
  | { readonly kind: 'outside'; readonly href: string }
  /** A site has no lists of files. */
  | { readonly kind: 'directory'; readonly href: null }
  | { readonly kind: 'page'; readonly file: string; readonly href: string }
  /** A picture, a configuration, or another file that is copied. */
  | { readonly kind: 'file'; readonly file: string; readonly href: string };

/**
 * Resolves a link of a document.
 * @param file the document, as a path in the repository
 * @throws Error if the link leads nowhere
 */
export function resolveLink(file: string, link: string): Target {
  if (/^(?:[a-z]+:|#)/.test(link)) return { kind: 'outside', href: link };
  const [path = '', anchor] = link.split('#');
  const target = normalize(join(dirname(file), path)).replace(/\/$/, '');
  const found = statSync(join(repository, target), { throwIfNoEntry: false });
  if (found === undefined) throw new Error(`${file} links to ${link}, which does not exist.`);
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (target.endsWith('.md')) {
    return { kind: 'page', file: target, href: between(file, pagePath(target)) + hash };
  }
  if (found.isDirectory()) return { kind: 'directory', href: null };
  return { kind: 'file', file: target, href: between(file, target) };
}

/** Returns the path from the page of a document to a path of the site. */
export function between(file: string, path: string): string {
  return relative(dirname(pagePath(file)), path);
}
