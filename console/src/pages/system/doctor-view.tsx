import type { DoctorReport } from '@latchkey/contract';
import { runDoctor } from '@latchkey/contract/admin/health';
import { useState } from 'preact/hooks';

import type { ApiError } from '#console/app/api-error.ts';
import { call } from '#console/app/call.ts';
import { toApiError } from '#console/app/resources.ts';
import { Badge, type Tone } from '#console/ui/badge.tsx';
import { Button } from '#console/ui/button.tsx';
import { Empty, Loading } from '#console/ui/empty.tsx';
import { ErrorBox } from '#console/ui/error-box.tsx';
import { Facts } from '#console/ui/facts.tsx';
import { Time } from '#console/ui/time.tsx';
import { sentenceCase } from '#console/ui/labels.ts';

type Finding = DoctorReport['findings'][number];

const TONES: Readonly<Record<Finding['status'], Tone>> = {
  failed: 'bad',
  warning: 'warning',
  ok: 'good',
};

/** Runs the checks of doctor on demand, and shows problems first. */
export function DoctorView() {
  const [report, setReport] = useState<DoctorReport | null>(null);
  const [error, setError] = useState<ApiError | undefined>(undefined);
  const [isRunning, setRunning] = useState(false);
  async function run(): Promise<void> {
    setRunning(true);
    setError(undefined);
    try {
      setReport(await call(runDoctor, {}));
    } catch (thrown) {
      setError(toApiError(thrown));
    } finally {
      setRunning(false);
    }
  }
  return (
    <div class="stack">
      <div class="actions">
        <Button kind="primary" disabled={isRunning} onClick={run}>
          {report === null ? 'Run the checks' : 'Run again'}
        </Button>
        {report !== null && (
          <span class="dim">
            Checked <Time at={report.checked_at} as="relative" />
          </span>
        )}
      </div>
      {error !== undefined && <ErrorBox error={error} onRetry={() => void run()} />}
      {isRunning && report === null && <Loading />}
      {!isRunning && report === null && error === undefined && (
        <Empty title="Not checked yet">
          Doctor checks the settings, the machine and the database, as <code>latchkey doctor</code>{' '}
          does. It changes nothing.
        </Empty>
      )}
      {report !== null && <Findings report={report} />}
    </div>
  );
}

function Findings({ report: { findings } }: { readonly report: DoctorReport }) {
  const problems = findings.filter(({ status }) => status !== 'ok');
  const fine = findings.filter(({ status }) => status === 'ok');
  return (
    <>
      {problems.length === 0 ? (
        <p class="notice good" role="status">
          All {findings.length} checks found nothing.
        </p>
      ) : (
        <ul class="findings" aria-label="Problems">
          {problems.map((finding) => (
            <Problem key={finding.check + finding.symptom} finding={finding} />
          ))}
        </ul>
      )}
      <Facts
        items={fine.map(({ check, symptom }) => [
          sentenceCase(check),
          <>
            <Badge tone="good">ok</Badge> {symptom}
          </>,
        ])}
      />
    </>
  );
}

function Problem({ finding }: { readonly finding: Finding }) {
  const { check, status, symptom, cause, fix } = finding;
  return (
    <li class="card finding">
      <h3>
        <Badge tone={TONES[status]}>{status}</Badge> {sentenceCase(check)}
      </h3>
      <p>{symptom}</p>
      <Facts
        items={[
          ['Cause', cause ?? undefined],
          ['Fix', fix ?? undefined],
        ]}
      />
    </li>
  );
}
