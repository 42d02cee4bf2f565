import type { Campaign, CampaignDryRun } from '@latchkey/contract';
import { campaigns, sendCampaign } from '@latchkey/contract/admin/outreach';
import { useEffect, useState } from 'preact/hooks';

import { ApiError } from '#console/app/api-error.ts';
import { call, pathOf } from '#console/app/call.ts';
import { invalidate, toApiError } from '#console/app/resources.ts';
import { Button } from '#console/ui/button.tsx';
import { Dialog } from '#console/ui/dialog.tsx';
import { Loading } from '#console/ui/empty.tsx';
import { ErrorBox, Notice } from '#console/ui/error-box.tsx';
import { Form } from '#console/ui/form.tsx';
import { showToast } from '#console/ui/toast.tsx';

import { countPeople } from './campaign-labels.ts';
import type { Draft } from './draft.ts';
import { RecipientFigures, requestDryRun } from './dry-run.tsx';
import { isCampaign } from './use-draft.ts';

interface SendDialogProps {
  /** As it was saved. */
  readonly campaign: Campaign;
  readonly draft: Draft;
  readonly list: string;
  readonly onClose: () => void;
  /** Another operator changed the draft: nothing was sent. */
  readonly onConflict: (theirs: Campaign) => void;
}

/** The last look before a mail is sent: how many people get it. */
export function SendDialog({ campaign, draft, list, onClose, onConflict }: SendDialogProps) {
  const [result, setResult] = useState<CampaignDryRun>();
  const [hasChanged, setChanged] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  useEffect(() => {
    requestDryRun({ draft, list }).then(setResult, (caught: unknown) => {
      setError(toApiError(caught) ?? null);
    });
  }, []);

  async function send(): Promise<void> {
    const body = {
      expected_version: campaign.version,
      max_recipients: result?.recipients ?? 0,
      ...(draft.audience.source === 'list' ? { list } : {}),
    };
    try {
      await call(sendCampaign, { params: { id: campaign.id }, body });
    } catch (caught) {
      if (!(caught instanceof ApiError) || !isCampaign(caught.current)) throw caught;
      return resolve(caught.current);
    }
    showToast('The mail is being sent.');
    onClose();
    invalidate(pathOf(campaigns.list));
  }

  /** Nothing is sent that the operator did not see: neither another text nor to more people. */
  async function resolve(current: Campaign): Promise<void> {
    if (current.version === campaign.version) {
      setResult(await requestDryRun({ draft, list }));
      setChanged(true);
    } else {
      onClose();
      onConflict(current);
    }
  }

  const subject = draft.texts[draft.default_language]?.subject ?? '';
  return (
    <Dialog title="Send this mail" onClose={onClose}>
      <p>
        <strong>{subject}</strong>
      </p>
      {error && <ErrorBox error={error} />}
      {result === undefined && error === null && <Loading />}
      {result?.recipients === 0 && (
        <Notice kind="warning">
          <p>It has no recipient. Close this dialog and choose other recipients.</p>
        </Notice>
      )}
      {result !== undefined && result.recipients > 0 && (
        <Form
          onSubmit={send}
          submit={`Send to ${countPeople(result.recipients)}`}
          buttons={<Button onClick={onClose}>Cancel</Button>}
        >
          {hasChanged && (
            <Notice kind="warning">
              <p role="alert">More people would get it by now. Nothing was sent yet.</p>
            </Notice>
          )}
          <RecipientFigures result={result} />
          <p class="hint">
            You can pause or cancel while it is being sent. What was sent cannot be taken back.
          </p>
        </Form>
      )}
    </Dialog>
  );
}
