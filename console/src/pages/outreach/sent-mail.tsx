import type { Language } from '@latchkey/contract/constants';
import type { Campaign } from '@latchkey/contract';
import { showCampaignStart } from '@latchkey/contract/admin/outreach-compose';
import { useState } from 'preact/hooks';

import { useOperation } from '#console/app/call.ts';
import { LANGUAGE_NAMES } from '#console/ui/labels.ts';

import { MailPreview } from './mail-preview.tsx';
import { usePreview } from './use-preview.ts';

/** The mail of a campaign in each of its languages, with the present facts of the catalog. */
export function SentMail({ campaign }: { readonly campaign: Campaign }) {
  const { texts, languages, default_language: first, source } = campaign;
  const [language, setLanguage] = useState<Language>(first);
  const start = useOperation(showCampaignStart, {}).data;
  const preview = usePreview(texts[language], language, source);
  return (
    <div class="form">
      {languages.length > 1 && (
        <div class="segments" role="group" aria-label="Language">
          {languages.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === language}
              onClick={() => setLanguage(each)}
            >
              {LANGUAGE_NAMES[each]}
            </button>
          ))}
        </div>
      )}
      <MailPreview preview={preview} sender={start?.sender ?? null} />
    </div>
  );
}
