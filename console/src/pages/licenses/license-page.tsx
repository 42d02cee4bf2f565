import type { AdminLicenseDetails } from '@latchkey/contract';

import type { RouteProps } from '#console/app/match-path.ts';
import { Page } from '#console/ui/page.tsx';
import { ResourcePage } from '#console/ui/resource-page.tsx';
import { Status } from '#console/ui/status.tsx';

import { DiagnosisBox } from './diagnosis-box.tsx';
import { LicenseActions } from './license-actions.tsx';
import { LicenseFacts } from './license-facts.tsx';
import { MachinesSection } from './machines-section.tsx';
import { TimelineSection } from './timeline-section.tsx';
import { LICENSES, nameOf } from './license-labels.ts';

const BACK = { to: '/licenses', label: 'Licenses' };

/** One license: why it does not work, its machines, what happened, and what can be done. */
export function LicensePage({ params }: RouteProps) {
  const path = `${LICENSES}/${encodeURIComponent(params['id'] ?? '')}`;
  return (
    <ResourcePage<AdminLicenseDetails> path={path} polls title="License" back={BACK}>
      {(license) => <LicenseView license={license} />}
    </ResourcePage>
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
