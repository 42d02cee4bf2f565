/** A mail that is being written: what the service has, and what only this browser has. */
import type { Campaign, CampaignAudience, CampaignTexts } from '@latchkey/contract';
import { onForget, operator } from '#console/app/session.ts';
import { LANGUAGES, type Language } from '@latchkey/contract/constants';

export interface Draft {
  readonly name: string;
  readonly texts: CampaignTexts;
  readonly default_language: Language;
  readonly audience: CampaignAudience;
}

export const EMPTY_TEXT = { subject: '', preview: '', text: '' };

export const NEW_DRAFT: Draft = {
  name: '',
  texts: { en: EMPTY_TEXT },
  default_language: 'en',
  audience: { source: 'subscribers', languages: [], products: [], statuses: [] },
};

/** Returns what an operator writes of a campaign. */
export function draftOf({ name, texts, default_language, audience }: Campaign): Draft {
  return { name, texts, default_language, audience };
}

/** Whether two drafts are the same. */
export function isSame(a: Draft, b: Draft): boolean {
  return JSON.stringify(pick(a)) === JSON.stringify(pick(b));
}

/** In a fixed order of fields. */
function pick({ name, texts, default_language, audience }: Draft): unknown {
  const { source, languages, products, statuses } = audience;
  const sorted = [[...languages].sort(), [...products].sort(), [...statuses].sort()];
  const written = LANGUAGES.map((language) => texts[language]).map(
    (text) => text && [text.subject, text.preview, text.text],
  );
  return [name, written, default_language, source, sorted];
}

/** Pasted addresses by the id of the draft: they are personal data, so they last only as long as the document and its operator. */
const lists = new Map<string, string>();
onForget(() => lists.clear());

/** Remembers the pasted addresses of a draft. @param id `new` before the first save */
export function rememberList(id: string, list: string): void {
  lists.set(id, list);
}

export function recallList(id: string): string {
  return lists.get(id) ?? '';
}

/** What this browser keeps of a draft that was not saved. */
export interface KeptDraft {
  readonly draft: Draft;
  /** The version that it is based on; null: a new mail. */
  readonly version: number | null;
}

/** Each operator has drafts of their own. */
const keyOf = (id: string): string => `latchkey.outreach.${operator.peek()?.id ?? ''}.${id}`;

/** Keeps an unsaved draft in this browser. @param id `new` before the first save */
export function keepDraft(id: string, kept: KeptDraft): void {
  try {
    localStorage.setItem(keyOf(id), JSON.stringify(kept));
  } catch {
    // Storage is full or forbidden: the draft stays on the page.
    return;
  }
}

export function forgetDraft(id: string): void {
  try {
    localStorage.removeItem(keyOf(id));
  } catch {
    // Storage is forbidden: nothing is kept.
    return;
  }
}

/** Returns the draft that this browser kept; null without one. */
export function readKeptDraft(id: string): KeptDraft | null {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(id)) ?? 'null');
    return isKept(kept) ? kept : null;
  } catch {
    // Not from this page, or storage is forbidden.
    return null;
  }
}

function isKept(value: unknown): value is KeptDraft {
  if (typeof value !== 'object' || value === null || !('draft' in value)) return false;
  const { draft } = value;
  return typeof draft === 'object' && draft !== null && 'texts' in draft && 'audience' in draft;
}
