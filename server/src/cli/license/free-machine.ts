/** `latchkey license free-machine`: deactivates one machine of a license. */
import { isUuid } from '@latchkey/contract';
import { InvalidArgumentError } from 'commander';

import { licenseNotFound } from '#server/errors.ts';
import { resolveLicenseId } from '#server/features/licenses/find-license.ts';
import { freeMachine } from '#server/features/licenses/free-machine.ts';

import { currentActor } from '../actor.ts';
import { command } from '../command.ts';
import { requiredReasonOption } from '../options.ts';
import { argument } from '../parameters.ts';
import { withContext } from '../with-context.ts';
import { licenseArgument, readLicenseName } from './argument.ts';

export const freeMachineCommand = command({
  name: 'free-machine',
  description:
    'Deactivate one machine of a license, so that another one can be activated. A machine without a connection continues until its token expires.',
  examples: {
    'license free-machine LK-… 0199a3c4-7b1e-7cc1-8d5e-2f6f0c1a9b3d --reason "laptop was stolen"':
      'Free a machine that license show lists',
  },
  parameters: [
    licenseArgument,
    argument('<activation>', 'id of the activation, from license show', activationId),
    requiredReasonOption,
  ],
  async run({ license: name, activation, reason }) {
    const keyOrId = await readLicenseName(name);
    return withContext(async (context) => {
      const licenseId = await resolveLicenseId(context, keyOrId);
      if (licenseId === null) throw licenseNotFound();
      const machine = { licenseId, activationId: activation, actor: currentActor(), reason };
      await freeMachine(context, machine);
      return {
        json: { license_id: licenseId, activation_id: activation, is_active: false },
        text: `The activation ${activation} of the license ${licenseId} is not active.`,
      };
    });
  },
});

function activationId(text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new InvalidArgumentError('Expected the id of an activation, from license show.');
}
