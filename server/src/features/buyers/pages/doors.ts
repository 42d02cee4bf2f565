import { markup, type Markup } from '#server/pages/markup.ts';

import type { PageFrame } from '../../suppressions/page-frame.ts';
import { errorLine, invalidField, noticeLine, textsOf, type BuyerPage } from './frame.ts';

/** Of what is entered as a key. */
export const MAX_KEY_CHARACTERS = 512;

/** What was entered, the errors in it, and what happened before. */
export interface DoorErrors {
  readonly notice?: string;
  readonly general?: string;
  readonly key?: string;
  readonly email?: string;
  readonly enteredKey?: string;
  readonly enteredEmail?: string;
}

/** The page with the two doors. @param hasMail whether codes can be mailed */
export function doorsPage(frame: PageFrame, hasMail: boolean, errors: DoorErrors = {}): BuyerPage {
  const { intro, title } = textsOf(frame);
  return {
    frame,
    title,
    isSignedIn: false,
    hasError: [errors.general, errors.key, errors.email].some((each) => each !== undefined),
    content: markup`<p>${intro}</p>
${noticeLine(errors.notice ?? null)}
${errorLine('error', errors.general ?? null)}
${keyDoor(frame, errors)}
${hasMail && emailDoor(frame, errors)}`,
  };
}

function keyDoor(frame: PageFrame, { key, enteredKey = '' }: DoorErrors): Markup {
  const error = key ?? null;
  const { heading, label, hint, button } = textsOf(frame).keyDoor;
  return markup`<section aria-labelledby="key-heading">
<h2 id="key-heading">${heading}</h2>
<form method="post" action="/my/key">
${errorLine('key-error', error)}
<label for="key">${label}</label>
<input type="text" id="key" name="key" value="${enteredKey}" required maxlength="${MAX_KEY_CHARACTERS}" autocomplete="off" autocapitalize="characters" spellcheck="false"${invalidField('key-error', error, 'key-hint')}>
<p class="hint" id="key-hint">${hint}</p>
<button type="submit">${button}</button>
</form>
</section>`;
}

function emailDoor(frame: PageFrame, { email, enteredEmail = '' }: DoorErrors): Markup {
  const error = email ?? null;
  const { heading, label, hint, button } = textsOf(frame).emailDoor;
  return markup`<section aria-labelledby="email-heading">
<h2 id="email-heading">${heading}</h2>
<form method="post" action="/my/email">
${errorLine('email-error', error)}
<label for="email">${label}</label>
<input type="email" id="email" name="email" value="${enteredEmail}" required maxlength="320" autocomplete="email" spellcheck="false"${invalidField('email-error', error, 'email-hint')}>
<p class="hint" id="email-hint">${hint}</p>
<button type="submit">${button}</button>
</form>
</section>`;
}

/** The page on which a code is entered. @param error null: none */
export function codePage(frame: PageFrame, error: string | null): BuyerPage {
  const { again, button, label, late, sent, title } = textsOf(frame).code;
  return {
    frame,
    title,
    isSignedIn: false,
    hasError: error !== null,
    content: markup`<p id="code-hint">${sent}</p>
<form method="post" action="/my/code">
${errorLine('code-error', error)}
<label for="code">${label}</label>
<input type="text" class="code" id="code" name="code" required maxlength="20" autocomplete="one-time-code" autocapitalize="characters" spellcheck="false"${error === null && markup` autofocus`}${invalidField('code-error', error, 'code-hint')}>
<p><button type="submit">${button}</button></p>
</form>
<p>${late}</p>
<p><a href="/my">${again}</a></p>`,
  };
}
