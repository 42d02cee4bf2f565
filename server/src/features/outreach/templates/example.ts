import type { LetterFacts } from './letter.ts';

/** What letters are shown with where nobody is written to. */
export const exampleRecipient = {
  name: 'Ada',
  /** Below the public URL; it opens nothing. */
  unsubscribePath: '/u/example',
} as const;

/** Made-up facts, with something of everything. */
export const exampleFacts: LetterFacts = {
  name: exampleRecipient.name,
  productName: 'Example Studio',
  sender: 'Robin at Example Studio',
  links: {
    download: 'https://example.com/download',
    sellers: 'https://example.com/sellers',
    tutorials: 'https://example.com/tutorials',
    news: 'https://example.com/news',
  },
  about: 'It shows you at a glance how your computers are doing, wherever they are.',
  version: '2.4',
  highlights: ['It starts twice as fast.', 'Graphs reach back a year.'],
  postalAddress: 'Example Studio, 1 Example Street, Exampletown',
  unsubscribeUrl: 'https://license.example.com/u/example',
};
