import { markup, type Markup } from '#server/pages/markup.ts';
import type { Language } from '@latchkey/contract';

import type { LicenseRecord } from '../../licenses/queries/licenses.ts';
import { isUsable, licenseStatus, publicExpiry } from '../../licenses/rules/status.ts';
import { formatDate } from '#server/pages/format-date.ts';
import { buyerTexts } from '../texts/buyer-texts.ts';
import type { StatusText } from '../texts/texts.ts';

/** Returns the status of a license in a sentence, and what its owner can do. */
export function describeStatus(
  language: Language,
  license: LicenseRecord,
  now: Date,
): StatusText & { readonly isUsable: boolean } {
  const status = licenseStatus(license, now);
  const end = publicExpiry(license, now);
  const text = buyerTexts[language].status[status]({
    isTrial: license.trial,
    isSubscription: license.subscription,
    isCancelScheduled: license.cancelScheduledFor !== null,
    end: end === null ? null : formatDate(language, end),
  });
  return { ...text, isUsable: isUsable(status) };
}

/** The status of a license, as paragraphs. */
export function statusLines(language: Language, license: LicenseRecord, now: Date): Markup {
  const { advice, isUsable: works, sentence } = describeStatus(language, license, now);
  const name = works && advice === null ? 'good' : 'bad';
  return markup`<p class="${name}">${sentence}${advice !== null && ` ${advice}`}</p>${works && updatesLine(language, license, now)}`;
}

/** Until when a license gets updates; nothing for one that gets all. */
function updatesLine(
  language: Language,
  { updatesUntil }: LicenseRecord,
  now: Date,
): Markup | false {
  if (updatesUntil === null) return false;
  const { updates, updatesOver } = buyerTexts[language].license;
  const write = updatesUntil > now ? updates : updatesOver;
  return markup`<p class="hint">${write(formatDate(language, updatesUntil))}</p>`;
}
