import type { Options } from 'minisearch';

/** A section of the documentation. */
export interface IndexedSection {
  /** The address of the section, from the root of the site. */
  readonly id: string;
  /** The title of its page. */
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  /** The beginning of the text. */
  readonly excerpt: string;
}

/** The same for the index and the search. */
export const SEARCH_OPTIONS: Options<IndexedSection> = {
  fields: ['heading', 'title', 'text'],
  storeFields: ['title', 'heading', 'excerpt'],
  searchOptions: {
    boost: { heading: 4, title: 2 },
    // What to do is asked more often than why it is so.
    boostDocument: (id) => (String(id).startsWith('docs/decisions/') ? 0.4 : 1),
    prefix: true,
    fuzzy: 0.15,
    combineWith: 'AND',
  },
};
