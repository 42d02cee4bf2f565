import { Command } from 'commander';

import { mailPreviewCommand } from './preview.ts';
import { mailResendCommand } from './resend.ts';

/** `latchkey mail …` */
export function mailCommand(): Command {
  return new Command('mail')
    .description('The e-mails that the service sends.')
    .addCommand(mailPreviewCommand())
    .addCommand(mailResendCommand());
}
