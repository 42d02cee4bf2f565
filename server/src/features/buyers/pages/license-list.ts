import { markup, type Markup } from '#server/pages/markup.ts';

import type { PageFrame } from '../../suppressions/page-frame.ts';
import { MAX_LICENSES, type BuyLinks } from '../own-licenses.ts';
import type { OwnLicense } from '../queries/own-licenses.ts';
import { postButton, showNotice, textsOf, type BuyerPage, type Notice } from './frame.ts';
import { statusLines } from './license-status.ts';

/** What the pages of licenses show besides them. */
export interface LicenseView {
  readonly frame: PageFrame;
  readonly now: Date;
  readonly nameProduct: (productId: string) => string;
  /** Whether keys can be mailed. */
  readonly hasMail: boolean;
  readonly findBuyLinks: (license: OwnLicense) => BuyLinks;
}

/**
 * The page with all licenses of an address.
 * @param notice what happened before; null: nothing
 * @param choices the ids of the licenses by which the request of a machine can be answered; none: there is no request
 */
export function licenseListPage(
  view: LicenseView,
  licenses: readonly OwnLicense[],
  notice: Notice | null,
  choices: ReadonlySet<string> = new Set(),
): BuyerPage {
  const { list, title } = textsOf(view.frame);
  const shown = licenses.slice(0, MAX_LICENSES);
  return {
    frame: view.frame,
    title,
    isSignedIn: true,
    hasError: notice?.isProblem === true,
    content: markup`${showNotice(notice)}
${shown.length === 0 ? markup`<p>${list.none}</p>` : markup`<ul class="plain">${shown.map((license) => listItem(view, license, choices.has(license.id)))}</ul>`}
${licenses.length > MAX_LICENSES && markup`<p>${list.more(MAX_LICENSES)}</p>`}
${view.hasMail && shown.length > 0 && sendKeysForm(view.frame)}`,
  };
}

function listItem(view: LicenseView, license: OwnLicense, isChoice: boolean): Markup {
  const { frame, nameProduct, now } = view;
  const { airgap, list } = textsOf(frame);
  const { active, id, keyHint, maxActivations, productId } = license;
  const product = nameProduct(productId);
  const name = keyHint === '' ? product : `${product}, ${keyHint}`;
  const which = markup`<span class="hidden"> (${name})</span>`;
  return markup`
<li>
<h2>${product}</h2>
<p class="hint">${keyHint !== '' && `${list.keyEnds(keyHint)} · `}${list.machines(active, maxActivations)}</p>
${statusLines(frame.language, license, now)}
${isChoice && markup`<p><a class="button" href="/my/licenses/${id}/offline">${airgap.use}${which}</a></p>`}
<p class="row"><a class="button quiet" href="/my/licenses/${id}">${list.open}${which}</a>${buyButtons(view, license, which)}</p>
</li>`;
}

/** The links to the shop that are offered for a license. @param which names the license, for a list of several */
export function buyButtons(
  { findBuyLinks, frame }: LicenseView,
  license: OwnLicense,
  which: Markup | false = false,
): Markup[] {
  const texts = textsOf(frame).license;
  const { renewal, upgrade } = findBuyLinks(license);
  const buttons = [
    [renewal, 'button', texts.renew],
    [upgrade, 'button quiet', texts.upgrade],
  ] as const;
  return buttons.flatMap(([href, style, label]) =>
    href === null
      ? []
      : [markup`<a class="${style}" href="${href}" rel="noopener noreferrer">${label}${which}</a>`],
  );
}

/** The button that mails the keys. */
export function sendKeysForm(frame: PageFrame): Markup {
  const { sendKeys, sendKeysHint } = textsOf(frame).list;
  return markup`<div class="row">${postButton('/my/keys', sendKeys)}<p class="hint">${sendKeysHint}</p></div>`;
}
