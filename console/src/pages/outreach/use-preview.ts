import type { CampaignPreview, CampaignText } from '@latchkey/contract';
import { previewCampaign } from '@latchkey/contract/admin/outreach-compose';
import { useEffect, useState } from 'preact/hooks';

import { ApiError } from '#console/app/api-error.ts';
import { call } from '#console/app/call.ts';
import type { Language } from '@latchkey/contract/constants';

import type { Draft } from './draft.ts';

/** After the last key. */
const PAUSE_MS = 250;

/** Renders a text as it would be sent, while it is written; undefined before the first answer. */
export function usePreview(
  text: CampaignText | undefined,
  language: Language,
  source: Draft['audience']['source'],
): CampaignPreview | undefined {
  const [preview, setPreview] = useState<CampaignPreview>();
  useEffect(() => {
    if (text === undefined) return undefined;
    let isCurrent = true;
    const pauseMs = preview === undefined ? 0 : PAUSE_MS;
    const show = (next: CampaignPreview | null): void => {
      if (isCurrent && next !== null) setPreview(next);
    };
    const timer = setTimeout(() => void render(text, language, source).then(show), pauseMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text, language, source]);
  return preview;
}

async function render(
  text: CampaignText,
  language: Language,
  source: Draft['audience']['source'],
): Promise<CampaignPreview | null> {
  try {
    const body = { text, language, source, name: 'Ada' };
    return await call(previewCampaign, { body });
  } catch (error) {
    // The next key tries again; the banner of the console reports a service that does not answer.
    if (error instanceof ApiError) return null;
    throw error;
  }
}
