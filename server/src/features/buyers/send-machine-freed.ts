import { addJobs } from '#server/jobs/add-jobs.ts';
import type { JobPayload } from '#server/jobs/job-definitions.ts';
import { parseMailbox } from '#server/mail/mailbox.ts';

import type { BillingDependencies } from '../billing/dependencies.ts';
import { sendToOwner } from '../key-emails/send-to-owner.ts';
import { findMachineOf } from '../licenses/queries/machine-pages.ts';
import { nameSender, type SenderSettings } from '../suppressions/page-frame.ts';
import { formatDateTime } from '#server/pages/format-date.ts';
import { renderFreedMail } from './mails/freed-mail.ts';

type FreedJob = JobPayload<'send_machine_freed'>;

/** For the e-mail about a deactivated machine. */
export type FreedMailDependencies = Omit<BillingDependencies, 'config'> & {
  readonly config: BillingDependencies['config'] & SenderSettings['config'];
};

/**
 * Notifies the owner of a license that a machine was deactivated on the page for buyers.
 * @throws Error if no mail is configured or a retry may succeed
 */
export async function sendMachineFreed(
  deps: FreedMailDependencies,
  job: FreedJob,
  signal?: AbortSignal,
): Promise<void> {
  const { licenseId, activationId, freedAt } = job;
  const machine = await findMachineOf(deps.pool, licenseId, activationId);
  if (machine === null) return;
  const { from } = deps.config.mail;
  await sendToOwner(deps, job, {
    kind: 'freed',
    occasion: `${activationId} ${freedAt}`,
    write: (language, { productName }) =>
      renderFreedMail(language, {
        productName,
        sender: nameSender(deps),
        contact: from === null ? null : parseMailbox(from).address,
        machine: machine.machineId ?? machine.identity.digest,
        freedAt: formatDateTime(language, new Date(freedAt)),
      }),
    requeue: (runAt) =>
      addJobs(deps.pool, [
        {
          name: 'send_machine_freed',
          payload: { ...job, isRepeat: true },
          key: activationId,
          runAt,
        },
      ]),
    signal,
  });
}
