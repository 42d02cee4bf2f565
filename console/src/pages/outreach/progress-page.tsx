import type { Campaign } from '@latchkey/contract';
import {
  campaigns,
  cancelCampaign,
  duplicateCampaign,
  pauseCampaign,
  resumeCampaign,
  showCampaign,
} from '@latchkey/contract/admin/outreach';
import { useEffect } from 'preact/hooks';

import { pathOf, useOperation } from '#console/app/call.ts';
import { invalidate } from '#console/app/resources.ts';
import { navigate } from '#console/app/router.ts';
import { Notice } from '#console/ui/error-box.tsx';
import { Facts } from '#console/ui/facts.tsx';
import { formatNumber } from '#console/ui/format.ts';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { Card, Page } from '#console/ui/page.tsx';
import { selectedTab, Tabs } from '#console/ui/tabs.tsx';
import { Time } from '#console/ui/time.tsx';
import { LANGUAGE_NAMES, nameActor } from '#console/ui/labels.ts';

import { describeError, SOURCES } from './campaign-labels.ts';
import { CampaignState } from './outreach-page.tsx';
import { Messages } from './messages.tsx';
import { Report } from './report.tsx';
import { SentMail } from './sent-mail.tsx';

const TABS = [
  { id: 'report', label: 'Report' },
  { id: 'messages', label: 'Recipients' },
  { id: 'mail', label: 'The mail' },
] as const;

/** The progress of a campaign while it is being sent, then its report. */
export function ProgressPage({ campaign }: { readonly campaign: Campaign }) {
  const { id, name, state } = campaign;
  useProgress(campaign);
  const tab = selectedTab(TABS);
  return (
    <Page
      title={name}
      status={<CampaignState state={state} />}
      back={{ to: '/outreach', label: 'Outreach' }}
      actions={<Controls campaign={campaign} />}
    >
      <Problem campaign={campaign} />
      <Progress campaign={campaign} />
      <Tabs label="Views" items={TABS} />
      {tab === 'report' && (
        <div class="stack">
          <Report campaign={campaign} />
          <Card>
            <Facts items={factsOf(campaign)} />
          </Card>
        </div>
      )}
      {tab === 'messages' && <Messages id={id} polls={state === 'sending'} />}
      {tab === 'mail' && <SentMail campaign={campaign} />}
    </Page>
  );
}

/** Follows a campaign while it is being sent; then reads what belongs to it once more. */
function useProgress({ id, state }: Campaign): void {
  const input = { params: { id } };
  const path = pathOf(showCampaign, input);
  const polls = state === 'sending';
  useOperation(showCampaign, input, { polls });
  useEffect(() => (polls ? () => invalidate(`${path}/`) : undefined), [path, polls]);
}

function factsOf(campaign: Campaign) {
  const { counts, languages, source, started_by: by } = campaign;
  return [
    ['Recipients', SOURCES[source]],
    ['Languages', languages.map((each) => LANGUAGE_NAMES[each]).join(', ')],
    ['Started', <Time at={campaign.started_at} />],
    ['Started by', by === null ? undefined : nameActor(by)],
    ['Ended', <Time at={campaign.ended_at} never="not yet" />],
    ['Duplicates left out', formatNumber(counts.duplicates)],
    ['Not an address', formatNumber(counts.invalid)],
  ] as const;
}

/** The share of messages with an outcome. */
function Progress({ campaign: { counts, state } }: { readonly campaign: Campaign }) {
  const { canceled, total, waiting } = counts;
  if (state === 'sent') return null;
  const done = total - waiting - canceled;
  return (
    <div class="progress">
      <progress max={total} value={done} aria-label="Messages with an outcome" />
      <p class="dim">
        {formatNumber(done)} of {formatNumber(total)} done
        {waiting > 0 && `, ${formatNumber(waiting)} to go`}
      </p>
    </div>
  );
}

function Problem({ campaign }: { readonly campaign: Campaign }) {
  const { problem, state, next_attempt_at: next } = campaign;
  if (problem === null) return null;
  return (
    <Notice kind={state === 'paused' ? 'error' : 'warning'}>
      <p>
        Nothing is sent since <Time at={campaign.problem_since} />: {describeError(problem)}{' '}
        <code>{problem}</code>.{' '}
        {state === 'paused'
          ? 'It was paused after an hour. Check the relay, then resume.'
          : 'Latchkey tries again'}
        {state === 'sending' && next !== null && (
          <>
            {' '}
            at <Time at={next} />. Resume tries at once.
          </>
        )}
      </p>
    </Notice>
  );
}

function Controls({ campaign }: { readonly campaign: Campaign }) {
  const { id, state, problem } = campaign;
  const params = { id };
  const isOpen = state === 'sending' || state === 'paused';
  return (
    <>
      {state === 'sending' && (
        <OperationAction
          of={pauseCampaign}
          params={params}
          label="Pause"
          explanation="Messages in progress are still sent, then it stops until you resume."
          invalidates={[pathOf(campaigns.list)]}
          done="Sending is paused."
        />
      )}
      {(state === 'paused' || (state === 'sending' && problem !== null)) && (
        <OperationAction
          of={resumeCampaign}
          params={params}
          label="Resume"
          explanation="The remaining messages are sent. Nobody gets the mail twice."
          kind="primary"
          invalidates={[pathOf(campaigns.list)]}
          done="Sending goes on."
        />
      )}
      {isOpen && (
        <OperationAction
          of={cancelCampaign}
          params={params}
          label="Cancel sending"
          explanation="The messages that were not sent yet are never sent. What was sent cannot be taken back."
          confirm="Cancel it for good"
          kind="danger"
          reason="required"
          invalidates={[pathOf(campaigns.list)]}
          done="The campaign was canceled."
        />
      )}
      <OperationAction
        of={duplicateCampaign}
        params={params}
        label="Write one like it"
        title="Copy to a new draft"
        explanation="Copies texts and recipients to a new draft. Nothing is sent."
        confirm="Copy"
        invalidates={[pathOf(campaigns.list)]}
        done="Copied to a new draft."
        onDone={(copy) => navigate(`/outreach/${copy.id}`)}
      />
    </>
  );
}
