/** What letters are shown with where nobody is written to. */
export const exampleRecipient = {
  name: 'Ada',
  /** Below the public URL; it opens nothing. */
  unsubscribePath: '/u/example',
} as const;
