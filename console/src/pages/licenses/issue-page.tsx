import type { IssuedLicense } from '@latchkey/contract';
import { useState } from 'preact/hooks';

import { LinkButton } from '#console/ui/button.tsx';
import { CopyButton } from '#console/ui/copy-button.tsx';
import { Notice } from '#console/ui/error-box.tsx';
import { Card, Page } from '#console/ui/page.tsx';

import { IssueForm, type Outcome } from './issue-form.tsx';
import { IssuedKeys } from './issued-keys.tsx';
import { mailOutcome } from './license-labels.ts';

const BACK = { to: '/licenses', label: 'Licenses' };

/** Issues licenses without a purchase. */
export function IssuePage() {
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const again = (): void => setOutcome(null);
  return (
    <Page
      title="Issue a license"
      back={BACK}
      intro="For press copies, invoices and gifts. Empty fields follow the product."
    >
      <Card>
        {outcome === null && <IssueForm onIssued={setOutcome} />}
        {outcome !== null && 'one' in outcome && <Issued issued={outcome.one} onAgain={again} />}
        {outcome !== null && 'many' in outcome && <IssuedKeys {...outcome} onAgain={again} />}
      </Card>
    </Page>
  );
}

interface IssuedProps {
  readonly issued: IssuedLicense;
  readonly onAgain: () => void;
}

function Issued({ issued, onAgain }: IssuedProps) {
  const { license, license_key: key, mail } = issued;
  return (
    <div class="form">
      <Notice kind="good">
        <p>The license is issued.</p>
        <p class="secret">
          <code>{key}</code>
          <CopyButton text={key} label="Copy license key" />
        </p>
        <p>{mailOutcome(mail)}</p>
      </Notice>
      <div class="buttons">
        <LinkButton to={`/licenses/${license.id}`} kind="primary">
          Open the license
        </LinkButton>
        <button type="button" class="button plain" onClick={onAgain}>
          Issue another
        </button>
      </div>
    </div>
  );
}
