import type { Campaign } from '@latchkey/contract';
import { campaigns, createCampaign, updateCampaign } from '@latchkey/contract/admin/outreach';
import { useEffect, useState } from 'preact/hooks';

import { ApiError } from '#console/app/api-error.ts';
import { call, pathOf } from '#console/app/call.ts';
import { invalidate } from '#console/app/resources.ts';
import { navigate } from '#console/app/router.ts';

import {
  draftOf,
  forgetDraft,
  isSame,
  keepDraft,
  NEW_DRAFT,
  readKeptDraft,
  recallList,
  rememberList,
  type Draft,
  type KeptDraft,
} from './draft.ts';

/** A draft on the page. */
export interface DraftState {
  readonly draft: Draft;
  /** The version that a save replaces; null: not saved yet. */
  readonly version: number | null;
  readonly isDirty: boolean;
  /** Whether the draft is what this browser kept, and not what the service has. */
  readonly isRestored: boolean;
  /** As the service has it; null: not saved yet. */
  readonly saved: Campaign | null;
  /** What another operator saved in the meantime. */
  readonly conflict: Campaign | null;
  readonly error: ApiError | null;
  readonly isSaving: boolean;
  readonly change: (changes: Partial<Draft>) => void;
  /** @returns the saved campaign; null when it could not be saved */
  readonly save: () => Promise<Campaign | null>;
  /** Returns to what the service has. */
  readonly discard: () => void;
  /** Asks which one stays. */
  readonly showConflict: (conflict: Campaign) => void;
  /** Replaces the draft by that of the other operator. */
  readonly takeOtherVersion: () => void;
  /** Keeps the draft, so that the next save replaces that of the other operator. */
  readonly keepOwnVersion: () => void;
}

/** @param campaign as the service has it; null: a new mail */
export function useDraft(campaign: Campaign | null): DraftState {
  const key = campaign?.id ?? 'new';
  const [saved, setSaved] = useState(campaign);
  const [kept] = useState(() => readKeptDraft(key));
  const base = saved === null ? NEW_DRAFT : draftOf(saved);
  const [draft, setDraft] = useState(() => kept?.draft ?? base);
  const [version, setVersion] = useState(
    kept === null ? (campaign?.version ?? null) : kept.version,
  );
  const [isRestored, setRestored] = useState(kept !== null && !isSame(kept.draft, base));
  const [conflict, setConflict] = useState<Campaign | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [isSaving, setSaving] = useState(false);
  const isDirty = !isSame(draft, base) || version !== (saved?.version ?? null);

  useKeeping(key, { draft, version }, isDirty);

  function store(next: Campaign): void {
    setSaved(next);
    setVersion(next.version);
    setRestored(false);
  }

  async function save(): Promise<Campaign | null> {
    setSaving(true);
    setError(null);
    try {
      const next = await send(draft, saved, version);
      store(next);
      forgetDraft(key);
      invalidate(pathOf(campaigns.list));
      if (campaign === null) rememberList(next.id, recallList(key));
      if (campaign === null) navigate(`/outreach/${next.id}`, { replace: true });
      return next;
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      if (isCampaign(caught.current)) setConflict(caught.current);
      else setError(caught);
      return null;
    } finally {
      setSaving(false);
    }
  }

  return {
    draft,
    version,
    isDirty,
    isRestored,
    saved,
    conflict,
    error,
    isSaving,
    change: (changes) => setDraft((before) => ({ ...before, ...changes })),
    save,
    discard: () => {
      setDraft(base);
      setVersion(saved?.version ?? null);
      setRestored(false);
    },
    showConflict: setConflict,
    takeOtherVersion: () => {
      if (conflict === null) return;
      store(conflict);
      setDraft(draftOf(conflict));
      setConflict(null);
    },
    keepOwnVersion: () => {
      setVersion(conflict?.version ?? version);
      setConflict(null);
    },
  };
}

/** Keeps a draft in this browser while it is not saved. */
function useKeeping(key: string, { draft, version }: KeptDraft, isDirty: boolean): void {
  useEffect(() => {
    if (isDirty) keepDraft(key, { draft, version });
    else forgetDraft(key);
  }, [draft, isDirty, key, version]);
}

function send(draft: Draft, saved: Campaign | null, version: number | null): Promise<Campaign> {
  const name = draft.name.trim() === '' ? subjectOf(draft) : draft.name.trim();
  const body = { ...draft, name };
  if (saved === null) return call(createCampaign, { body });
  const change = { ...body, expected_version: version ?? saved.version };
  return call(updateCampaign, { params: { id: saved.id }, body: change });
}

/** The name of a mail that has none. */
function subjectOf({ texts, default_language: language }: Draft): string {
  const subject = texts[language]?.subject.trim() ?? '';
  return subject === '' ? 'Untitled' : subject;
}

/** Whether a conflict names the campaign as it is. */
export function isCampaign(value: unknown): value is Campaign {
  return typeof value === 'object' && value !== null && 'version' in value && 'texts' in value;
}
