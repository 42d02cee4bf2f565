import { markup } from '#server/pages/markup.ts';

import type { AirgappedActivation } from '../../licenses/activate-airgapped.ts';
import type { PageFrame } from '../../suppressions/page-frame.ts';
import { formatDate } from '#server/pages/format-date.ts';
import { errorLine, invalidField, textsOf, type BuyerPage } from './frame.ts';
import { qrCode } from './qr-code.ts';

/** What the page for a request shows. */
export interface AirgapPageFacts {
  readonly licenseId: string;
  readonly product: string;
  readonly airgapDays: number;
  /** The text that was sent, to correct it. */
  readonly entered: string;
}

/** The page on which the request of a machine is entered. @param error null: none */
export function airgapPage(
  frame: PageFrame,
  { airgapDays, entered, licenseId, product }: AirgapPageFacts,
  error: string | null,
): BuyerPage {
  const { airgap } = textsOf(frame);
  return {
    frame,
    title: airgap.title,
    isSignedIn: true,
    hasError: error !== null,
    content: markup`<nav><a href="/my/licenses/${licenseId}">${product}</a></nav>
<p>${airgap.about(airgapDays)}</p>
<ol>${airgap.steps.map((step) => markup`<li>${step}</li>`)}</ol>
<form method="post" action="/my/licenses/${licenseId}/offline" enctype="multipart/form-data">
${errorLine('request-error', error)}
<label for="request">${airgap.label}</label>
<textarea id="request" name="request" rows="6" maxlength="20000" autocomplete="off" autocapitalize="off" spellcheck="false"${invalidField('request-error', error, null)}>${entered}</textarea>
<label for="file">${airgap.file}</label>
<input type="file" id="file" name="file" accept=".txt,text/plain">
<p><button type="submit">${airgap.button}</button></p>
</form>`,
  };
}

/** The page with the entitlement. */
export function entitlementPage(
  frame: PageFrame,
  licenseId: string,
  product: string,
  { entitlement, machineName }: AirgappedActivation,
): BuyerPage {
  const { airgap } = textsOf(frame);
  const { token, expiresAt } = entitlement;
  const code = qrCode(token, airgap.codeLabel);
  return {
    frame,
    title: airgap.done,
    isSignedIn: true,
    hasError: false,
    content: markup`<nav><a href="/my/licenses/${licenseId}">${product}</a></nav>
<p>${airgap.doneAbout(machineName)}</p>
<p class="good">${airgap.validUntil(formatDate(frame.language, expiresAt))} ${airgap.renew}</p>
<label for="answer">${airgap.textLabel}</label>
<textarea id="answer" rows="10" readonly spellcheck="false">${token}</textarea>
<p><a class="button quiet" download="latchkey-answer.txt" href="data:text/plain;charset=utf-8,${token}">${airgap.fileLink}</a></p>
${
  code !== null &&
  markup`<h2>${airgap.codeLabel}</h2>
${code}`
}`,
  };
}
