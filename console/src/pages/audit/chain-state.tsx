import type { AuditChain, AuditVerification } from '@latchkey/contract';
import { showAuditChain, verifyAuditLog } from '@latchkey/contract/admin/audit';
import { useState } from 'preact/hooks';

import { ApiError } from '#console/app/api-error.ts';
import { call, useOperation } from '#console/app/call.ts';
import { Button } from '#console/ui/button.tsx';
import { CopyButton } from '#console/ui/copy-button.tsx';
import { ErrorBox } from '#console/ui/error-box.tsx';
import { formatNumber } from '#console/ui/format.ts';
import { Loaded } from '#console/ui/loaded.tsx';

/** Whether the chain of the log is intact, and a verification of all of it. */
export function ChainState() {
  const chain = useOperation(showAuditChain, {});
  const [found, setFound] = useState<Progress | null>(null);
  const [error, setError] = useState<ApiError | null>(null);

  async function verify(): Promise<void> {
    setError(null);
    try {
      await verifyAll(setFound);
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      setFound(null);
      setError(caught);
    }
  }

  return (
    <Loaded resource={chain}>
      {(data) => (
        <>
          <div class={`notice ${toneOf(found?.problem ?? data.problem)}`} role="status">
            <p>{found === null ? describeChain(data) : describeProgress(found)}</p>
            {found?.complete === true && found.last !== null && (
              <p>
                Head: <code>{`${found.last.sequence}:${found.last.hash.slice(0, 16)}…`}</code>{' '}
                <CopyButton text={`${found.last.sequence}:${found.last.hash}`} label="Copy head" />{' '}
                Note it elsewhere: <code>latchkey audit verify --expect</code> proves later that
                nothing up to it changed.
              </p>
            )}
            <Button busy={isRunning(found)} onClick={verify}>
              {isRunning(found) ? 'Verifying …' : 'Verify all entries'}
            </Button>
          </div>
          {error && <ErrorBox error={error} />}
        </>
      )}
    </Loaded>
  );
}

/** A verification of all parts so far. */
interface Progress extends Omit<AuditVerification, 'verified'> {
  readonly count: number;
}

/** Verifies part by part, and reports each. @param before the result of the parts before */
async function verifyAll(
  report: (progress: Progress) => void,
  before: Progress | null = null,
): Promise<void> {
  const { last = null, count: verified = 0 } = before ?? {};
  const after = last === null ? {} : { after: { sequence: last.sequence, hash: last.hash } };
  const part = await call(verifyAuditLog, { body: after });
  const progress = { ...part, count: verified + part.verified };
  report(progress);
  const isEnd = part.complete || part.problem !== null || part.last === null;
  if (!isEnd) await verifyAll(report, progress);
}

function isRunning(found: Progress | null): boolean {
  return found !== null && !found.complete && found.problem === null;
}

function toneOf(problem: string | null): string {
  return problem === null ? 'good' : 'error';
}

function describeChain({ entries, checked, problem }: AuditChain): string {
  if (problem !== null) return `The log is broken: ${problem}`;
  if (checked === entries) return `The chain of all ${formatNumber(entries)} entries is intact.`;
  return `The chain of the newest ${formatNumber(checked)} of ${formatNumber(entries)} entries is intact.`;
}

function describeProgress({ count, complete, problem }: Progress): string {
  if (problem !== null) return `The log is broken: ${problem}`;
  const entries = `${formatNumber(count)} ${count === 1 ? 'entry' : 'entries'}`;
  return complete ? `All ${entries} are intact.` : `${entries} are intact so far.`;
}
