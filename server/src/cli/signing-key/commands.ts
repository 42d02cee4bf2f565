import { Command } from 'commander';

import { signingKeyListCommand } from './list.ts';
import { signingKeyRevokeCommand } from './revoke.ts';
import { signingKeyRotateCommand } from './rotate.ts';

/** `latchkey signing-key …` */
export function signingKeyCommand(): Command {
  return new Command('signing-key')
    .description('The keys that entitlements are signed with.')
    .addCommand(signingKeyListCommand())
    .addCommand(signingKeyRotateCommand())
    .addCommand(signingKeyRevokeCommand());
}
