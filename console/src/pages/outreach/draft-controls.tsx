import type { Campaign } from '@latchkey/contract';
import { campaigns, deleteCampaign } from '@latchkey/contract/admin/outreach';

import { pathOf } from '#console/app/call.ts';
import { navigate } from '#console/app/router.ts';
import { Badge } from '#console/ui/badge.tsx';
import { Button } from '#console/ui/button.tsx';
import { ErrorBox, Notice } from '#console/ui/error-box.tsx';
import { nameActor } from '#console/ui/labels.ts';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { Time } from '#console/ui/time.tsx';

import { forgetDraft } from './draft.ts';
import type { DraftState } from './use-draft.ts';

export interface StateProps {
  readonly campaign: Campaign | null;
  readonly state: DraftState;
}

/** Whether the draft is saved. */
export function SaveState({ campaign, state }: StateProps) {
  if (state.isDirty) return <Badge tone="warning">not saved</Badge>;
  return campaign === null ? null : <Badge>draft</Badge>;
}

/** What can be done with a draft. */
export function Buttons({
  campaign,
  state,
  onSend,
}: StateProps & { readonly onSend: () => unknown }) {
  return (
    <>
      {campaign !== null && (
        <OperationAction
          of={deleteCampaign}
          params={{ id: campaign.id }}
          label="Delete"
          title="Delete this draft"
          explanation="The text is lost."
          kind="danger"
          invalidates={[`${pathOf(campaigns.list)}?`]}
          done="The draft was deleted."
          onDone={() => {
            forgetDraft(campaign.id);
            navigate('/outreach');
          }}
        />
      )}
      <Button
        onClick={() => state.save()}
        busy={state.isSaving}
        disabled={!state.isDirty || state.conflict !== null}
      >
        Save
      </Button>
      <Button kind="primary" onClick={onSend} disabled={state.conflict !== null}>
        {campaign === null ? 'Save and continue' : 'Review and send'}
      </Button>
    </>
  );
}

/** Why a draft could not be saved, or differs from the one of the service. */
export function Notices({ state }: { readonly state: DraftState }) {
  const { conflict } = state;
  return (
    <>
      {state.error && <ErrorBox error={state.error} />}
      {state.isRestored && (
        <Notice>
          <p>This is what you wrote before in this browser. It was not saved.</p>
          <Button onClick={state.discard}>Discard it</Button>
        </Notice>
      )}
      {conflict !== null && (
        <Notice kind="warning">
          <p>
            {nameActor(conflict.updated_by)} changed this draft{' '}
            <Time at={conflict.updated_at} as="relative" />. Your text is still here.
          </p>
          <div class="actions">
            <Button onClick={state.takeOtherVersion}>Use the other version</Button>
            <Button onClick={state.keepOwnVersion}>Keep mine</Button>
          </div>
        </Notice>
      )}
    </>
  );
}
