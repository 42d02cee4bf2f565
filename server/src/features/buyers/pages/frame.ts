import { markup, type Markup, type MarkupValue } from '#server/pages/markup.ts';
import type { PageDocument } from '#server/pages/render-document.ts';

import type { PageFrame } from '../../suppressions/page-frame.ts';
import { buyerTexts } from '../texts/buyer-texts.ts';
import type { BuyerTexts } from '../texts/texts.ts';
import { BUYER_STYLE } from './style.ts';

/** A page for buyers. */
export interface BuyerPage {
  readonly frame: PageFrame;
  readonly title: string;
  readonly content: MarkupValue;
  /** Whether the page offers to sign out. */
  readonly isSignedIn: boolean;
  /** Whether it shows an error, which its title then announces. */
  readonly hasError: boolean;
}

export function textsOf({ language }: PageFrame): BuyerTexts {
  return buyerTexts[language];
}

/** Puts a page for buyers into the document that is sent. */
export function toDocument(page: BuyerPage): PageDocument {
  const { frame, title, content, hasError, isSignedIn } = page;
  const { errors, license, list } = textsOf(frame);
  const { contact, language, sender } = frame;
  return {
    language,
    title: `${hasError ? errors.title(title) : title} · ${sender}`,
    style: BUYER_STYLE,
    content: markup`<p><small>${sender}</small></p>
<h1>${title}</h1>
${content}
${isSignedIn && postButton('/my/sign-out', list.signOut, 'quiet')}
${contact !== null && markup`<p><small>${license.contact(contact)}</small></p>`}
`,
  };
}

/** A form that is a button. @param name the class of the button; null: none */
export function postButton(action: string, label: string, name: string | null = null): Markup {
  return markup`<form method="post" action="${action}"><button type="submit"${name !== null && markup` class="${name}"`}>${label}</button></form>`;
}

/** An error above a form; null: none. */
export function errorLine(id: string, error: string | null): Markup | null {
  return error === null ? null : markup`<p class="error" id="${id}" role="alert">${error}</p>`;
}

/** What happened before the page was shown; null: nothing. */
export function noticeLine(...sentences: readonly (string | null)[]): Markup | null {
  const shown = sentences.filter((sentence) => sentence !== null);
  if (shown.length === 0) return null;
  return markup`<p class="notice" role="status">${shown.join(' ')}</p>`;
}

/** What happened before a page was shown. */
export interface Notice {
  readonly sentence: string;
  /** Whether it is not what the buyer wanted. */
  readonly isProblem: boolean;
}

/** Shows what happened before; null: nothing. */
export function showNotice(notice: Notice | null): Markup | null {
  if (notice === null) return null;
  return notice.isProblem ? errorLine('error', notice.sentence) : noticeLine(notice.sentence);
}

/**
 * The attributes of a field whose error {@link errorLine} shows. The field gets the focus, so that screen readers read the error
 * with it: not all read an alert that was there when the page was loaded.
 */
export function invalidField(id: string, error: string | null, hintId: string | null): Markup {
  const described = [error === null ? null : id, hintId].filter((each) => each !== null).join(' ');
  return markup`${error !== null && markup` aria-invalid="true" autofocus`}${described !== '' && markup` aria-describedby="${described}"`}`;
}
