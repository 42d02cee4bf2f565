import type { AdminLicenseDetails } from '@latchkey/contract';
import { showLicense } from '@latchkey/contract/admin/license-details';

import type { RouteProps } from '#console/app/match-path.ts';
import { OperationPage } from '#console/ui/operation-page.tsx';
import { Page } from '#console/ui/page.tsx';
import { Status } from '#console/ui/status.tsx';

import { DiagnosisBox } from './diagnosis-box.tsx';
import { LicenseActions } from './license-actions.tsx';
import { LicenseFacts } from './license-facts.tsx';
import { MachinesSection } from './machines-section.tsx';
import { TimelineSection } from './timeline-section.tsx';
import { nameOf } from './license-labels.ts';

const BACK = { to: '/licenses', label: 'Licenses' };

/** One license: why it does not work, its machines, what happened, and what can be done. */
export function LicensePage({ params }: RouteProps) {
  const { id = '' } = params;
  return (
    <OperationPage of={showLicense} params={{ id }} polls title="License" back={BACK}>
      {(license) => <LicenseView license={license} />}
    </OperationPage>
  );
}

function LicenseView({ license }: { readonly license: AdminLicenseDetails }) {
  const { status, trial } = license;
  return (
    <Page
      title={nameOf(license)}
      back={BACK}
      intro={`${license.product_name}${trial ? ' trial' : ''} · key …${license.key_hint}`}
      status={<Status of={status} />}
    >
      <DiagnosisBox license={license} />
      <div class="with-aside">
        <MachinesSection license={license} />
        <aside aria-label="About the license">
          <LicenseFacts license={license} />
          <LicenseActions license={license} />
        </aside>
        <TimelineSection license={license} />
      </div>
    </Page>
  );
}
