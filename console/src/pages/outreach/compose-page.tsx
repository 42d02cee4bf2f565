import { LANGUAGES, type Language } from '@latchkey/contract/constants';
import type { Campaign, CampaignProblem, CampaignStart, CampaignText } from '@latchkey/contract';
import { sendTestMail, showCampaignStart } from '@latchkey/contract/admin/outreach-compose';
import { useState } from 'preact/hooks';

import { useOperation } from '#console/app/call.ts';
import { hasRole } from '#console/app/session.ts';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { Page, Section } from '#console/ui/page.tsx';
import { showToast } from '#console/ui/toast.tsx';
import { LANGUAGE_NAMES } from '#console/ui/labels.ts';

import { AudienceEditor } from './audience-editor.tsx';
import { EMPTY_TEXT, recallList, rememberList, type Draft } from './draft.ts';
import { DryRun } from './dry-run.tsx';
import { LanguageTabs } from './language-tabs.tsx';
import { MailPreview } from './mail-preview.tsx';
import { SendDialog } from './send-dialog.tsx';
import { TemplatePicker } from './template-picker.tsx';
import { TextEditor } from './text-editor.tsx';
import { useDraft, type DraftState } from './use-draft.ts';
import { usePreview } from './use-preview.ts';
import { Buttons, Notices, SaveState, type StateProps } from './draft-controls.tsx';

const NO_START: CampaignStart = { templates: [], placeholders: [], products: [], sender: null };

/** The editor of a mail: texts and preview side by side, then the recipients. */
export function ComposePage({ campaign }: { readonly campaign: Campaign | null }) {
  const state = useDraft(campaign);
  const start = useOperation(showCampaignStart, {}).data ?? NO_START;
  const key = campaign?.id ?? 'new';
  const [list, setList] = useState(() => recallList(key));
  const [sending, setSending] = useState<Campaign | null>(null);
  const { draft } = state;

  function keepList(next: string): void {
    rememberList(key, next);
    setList(next);
  }

  async function review(): Promise<void> {
    const saved = state.isDirty || campaign === null ? await state.save() : state.saved;
    // A new mail moves to its own page; its dialog would close.
    if (saved !== null && campaign !== null) setSending(saved);
    else if (saved !== null) showToast('Saved. Now check the recipients and send it.');
  }

  return (
    <Page
      title={draft.name.trim() === '' ? 'New mail' : draft.name}
      status={<SaveState campaign={campaign} state={state} />}
      back={{ to: '/outreach', label: 'Outreach' }}
      actions={hasRole('admin') && <Buttons campaign={campaign} state={state} onSend={review} />}
    >
      <Notices state={state} />
      <Writing campaign={campaign} state={state} start={start} />
      <Recipients state={state} start={start} list={list} onList={keepList} />
      {sending && (
        <SendDialog
          campaign={sending}
          draft={draft}
          list={list}
          onClose={() => setSending(null)}
          onConflict={state.showConflict}
        />
      )}
    </Page>
  );
}

interface WritingProps extends StateProps {
  readonly start: CampaignStart;
}

/** The texts, and beside them the mail as it arrives. */
function Writing({ campaign, state, start }: WritingProps) {
  const { draft } = state;
  const [chosen, setLanguage] = useState<Language>(draft.default_language);
  const language = draft.texts[chosen] === undefined ? draft.default_language : chosen;
  const text = draft.texts[language] ?? EMPTY_TEXT;
  const preview = usePreview(text, language, draft.audience.source);
  return (
    <div class="compose">
      <div class="form">
        <NameField draft={draft} onChange={state.change} />
        {isUnwritten(draft) && (
          <TemplatePicker
            templates={start.templates}
            onPick={(texts) => state.change({ texts: { ...texts } })}
          />
        )}
        <LanguageTabs
          draft={draft}
          selected={language}
          onSelect={setLanguage}
          onChange={state.change}
        />
        <TextEditor
          key={language}
          text={text}
          placeholders={start.placeholders}
          problems={problemsToShow(preview?.problems ?? [], text)}
          onChange={(next) => state.change({ texts: { ...draft.texts, [language]: next } })}
        />
      </div>
      <div class="compose-side">
        <MailPreview preview={preview} sender={start.sender} />
        {campaign !== null && <TestMail draft={draft} language={language} />}
      </div>
    </div>
  );
}

interface NameFieldProps {
  readonly draft: Draft;
  readonly onChange: (changes: Partial<Draft>) => void;
}

function NameField({ draft, onChange }: NameFieldProps) {
  return (
    <div class="field">
      <label for="campaign-name">
        Name <span class="optional">only for you</span>
      </label>
      <input
        id="campaign-name"
        maxLength={200}
        value={draft.name}
        placeholder="Version 2.0 for customers"
        onInput={(event) => onChange({ name: event.currentTarget.value })}
      />
    </div>
  );
}

interface TestMailProps {
  readonly draft: Draft;
  readonly language: Language;
}

function TestMail({ draft, language }: TestMailProps) {
  return (
    <OperationAction
      of={sendTestMail}
      label="Send a test to me"
      explanation={`Sends the ${LANGUAGE_NAMES[language]} mail, as it is on this page, to your own address. Its link to unsubscribe works.`}
      confirm="Send the test"
      body={() => ({ texts: draft.texts, language, audience: draft.audience })}
      invalidates={[]}
      done="The test mail was sent to you."
    />
  );
}

interface RecipientsProps {
  readonly state: DraftState;
  readonly start: CampaignStart;
  readonly list: string;
  readonly onList: (list: string) => void;
}

/** Who gets the mail, and the check of it. */
function Recipients({ state, start, list, onList }: RecipientsProps) {
  const { draft } = state;
  return (
    <Section
      title="Recipients"
      intro="Suppressed addresses never get a mail, and nobody gets it twice."
    >
      <div class="compose">
        <AudienceEditor
          audience={draft.audience}
          products={start.products}
          list={list}
          onChange={(audience) => state.change({ audience })}
          onList={onList}
        />
        <DryRun draft={draft} list={list} />
      </div>
    </Section>
  );
}

/** An empty field is no mistake while the mail is being written; sending it reports that. */
function problemsToShow(problems: readonly CampaignProblem[], text: CampaignText) {
  return problems.filter(({ field }) => text[field] !== '');
}

function isUnwritten({ texts }: Draft): boolean {
  return LANGUAGES.every((each) => {
    const { subject, text } = texts[each] ?? EMPTY_TEXT;
    return subject === '' && text === '';
  });
}
