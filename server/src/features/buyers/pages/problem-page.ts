import { markup } from '#server/pages/markup.ts';

import type { PageFrame } from '../../suppressions/page-frame.ts';
import { errorLine, textsOf, type BuyerPage } from './frame.ts';

/** The page of a problem for a signed-in buyer, who would not look for it above the doors. */
export function problemPage(frame: PageFrame, sentence: string): BuyerPage {
  const { title } = textsOf(frame);
  return {
    frame,
    title,
    isSignedIn: true,
    hasError: true,
    content: markup`${errorLine('error', sentence)}
<p><a href="/my">${title}</a></p>`,
  };
}
