import { Command } from 'commander';

import { auditListCommand } from './list.ts';

/** `latchkey audit …` */
export function auditCommand(): Command {
  return new Command('audit')
    .description(
      'Read the audit log: changes by hand, and secrets and personal data that were shown.',
    )
    .addCommand(auditListCommand());
}
