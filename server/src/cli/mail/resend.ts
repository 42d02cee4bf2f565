import { Command } from 'commander';

import {
  resendKeyEmails,
  type ResendOrder,
} from '#server/features/billing/key-emails/resend-key-emails.ts';

import { currentActor } from '../actor.ts';
import { failed, usageError } from '../command-error.ts';
import { jsonOption, shortText, withExamples } from '../option-values.ts';
import { type OutputOptions, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

interface ResendOptions extends OutputOptions {
  readonly refused?: boolean;
  readonly unconfirmed?: boolean;
  readonly reason?: string;
}

export function mailResendCommand(): Command {
  const command = new Command('resend')
    .description('Have e-mails with license keys sent again, by the service that runs.')
    .argument('[transaction]', "the payment provider's id of the purchase; all its keys are sent")
    .option('--refused', 'all that the mail relay refused for good')
    .option('--unconfirmed', 'all of which the relay did not say whether it took them')
    .option('--reason <text>', 'why, for the audit log', shortText)
    .addOption(jsonOption())
    .action(resend);
  return withExamples(command, [
    ['mail resend txn_01hv8wptq8987qeep44cyrewp9', 'One purchase: the buyer has lost the e-mail'],
    ['mail resend --refused --reason "the relay trusts us again"', 'All that were refused'],
  ]);
}

async function resend(transactionId: string | undefined, options: ResendOptions): Promise<void> {
  const which = readWhich(transactionId, options);
  await withContext(async (ctx) => {
    const order = { which, actor: currentActor(), reason: options.reason ?? null };
    const queued = await resendKeyEmails(ctx, order);
    if (queued === 0 && typeof which !== 'string') {
      throw failed(
        'No license was bought by such a transaction, or its e-mail is just being sent.',
      );
    }
    printResult(options, { queued }, () => describe(queued));
  });
}

function readWhich(
  transactionId: string | undefined,
  { refused, unconfirmed }: ResendOptions,
): ResendOrder['which'] {
  const chosen = [
    ...(transactionId === undefined ? [] : [{ transactionId }]),
    ...(refused === true ? ['refused' as const] : []),
    ...(unconfirmed === true ? ['unconfirmed' as const] : []),
  ];
  const [which] = chosen;
  if (which === undefined || chosen.length > 1) {
    throw usageError('Say which: the id of a transaction, --refused or --unconfirmed.');
  }
  return which;
}

function describe(queued: number): string {
  if (queued === 0) return 'There is none.';
  const mails = queued === 1 ? '1 e-mail is' : `${queued} e-mails are`;
  return `${mails} queued: the service sends what has an address and a license in force.`;
}
