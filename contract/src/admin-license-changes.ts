import { type Static, type TSchema, Type } from 'typebox';

import { AdminLicenseDetails } from './admin-license-details.ts';
import { reason } from './admin-list.ts';
import {
  based,
  customerEmail,
  customerName,
  licensePath,
  maxActivations,
  MAX_LICENSE_DAYS,
  note,
} from './license-fields.ts';
import { operation } from './operation.ts';
import type { Permission } from './permissions.ts';
import { dateTime, integer, nullable, ref, uuid } from './schema.ts';

const LicenseChange = Type.Object(based, { $id: 'LicenseChange', additionalProperties: false });

const LicenseExtend = Type.Object(
  {
    ...based,
    days: Type.Optional(
      integer({
        description:
          'Days to add to the expiry, or to now if the license has expired. Either `days` or `until`.',
        minimum: 1,
        maximum: MAX_LICENSE_DAYS,
      }),
    ),
    until: Type.Optional(
      nullable(
        dateTime({ description: 'The new expiry; null: perpetual. Either `days` or `until`.' }),
      ),
    ),
  },
  {
    $id: 'LicenseExtend',
    additionalProperties: false,
    examples: [{ expected_version: 3, reason: 'An outage in May', days: 30 }],
  },
);
export type LicenseExtend = Static<typeof LicenseExtend>;

const LicenseUpdatesChange = Type.Object(
  {
    ...based,
    days: Type.Optional(
      integer({
        description:
          'Days to add to the end of updates, or to now if that has passed. Either `days` or `until`.',
        minimum: 1,
        maximum: MAX_LICENSE_DAYS,
      }),
    ),
    until: Type.Optional(
      nullable(
        dateTime({
          description: 'The new end of updates; null: all updates. Either `days` or `until`.',
        }),
      ),
    ),
  },
  {
    $id: 'LicenseUpdatesChange',
    additionalProperties: false,
    examples: [{ expected_version: 3, reason: 'Paid by invoice', days: 365 }],
  },
);

const LicenseLimitChange = Type.Object(
  { ...based, max_activations: maxActivations },
  { $id: 'LicenseLimitChange', additionalProperties: false },
);

const LicenseMovesChange = Type.Object(
  {
    ...based,
    count: integer({
      description: 'How many more moves to allow.',
      minimum: 1,
      maximum: 1_000,
      examples: [1],
    }),
  },
  { $id: 'LicenseMovesChange', additionalProperties: false },
);

const LicenseOwnerChange = Type.Object(
  {
    ...based,
    customer_email: Type.Optional(nullable(customerEmail)),
    customer_name: Type.Optional(nullable(customerName)),
    note: Type.Optional(nullable(note)),
  },
  {
    $id: 'LicenseOwnerChange',
    additionalProperties: false,
    description: 'Fields that are absent stay as they are; null removes one.',
  },
);
export type LicenseOwnerChange = Static<typeof LicenseOwnerChange>;

export const LicenseReason = Type.Object(
  { reason },
  { $id: 'LicenseReason', additionalProperties: false },
);

const changed = ref(AdminLicenseDetails, 'The license after the change.');

interface Change<Body extends TSchema> {
  readonly id: string;
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly permission: Permission;
  readonly body: Body;
}

/** A change that is based on a version of the license. */
function change<Body extends TSchema>(of: Change<Body>) {
  return operation({
    ...of,
    method: 'POST',
    params: licensePath,
    response: changed,
    errors: ['license_not_found', 'conflict'],
  });
}

export const suspendLicense = change({
  id: 'suspendLicense',
  path: 'licenses/:id/suspend',
  summary: 'Suspend a license until it is reinstated',
  permission: 'licenses:change',
  body: ref(LicenseChange),
});

export const reinstateLicense = change({
  id: 'reinstateLicense',
  path: 'licenses/:id/reinstate',
  summary: 'Reinstate a suspended, revoked or disputed license',
  description: 'An e-mail with its key that was held back is sent.',
  permission: 'licenses:change',
  body: ref(LicenseChange),
});

export const revokeLicense = change({
  id: 'revokeLicense',
  path: 'licenses/:id/revoke',
  summary: 'Revoke a license',
  description: 'It is invalid until it is reinstated.',
  permission: 'licenses:revoke',
  body: ref(LicenseChange),
});

export const extendLicense = change({
  id: 'extendLicense',
  path: 'licenses/:id/extend',
  summary: 'Change the expiry of a license',
  description: 'By days, or to a date. Payments do not move it back.',
  permission: 'licenses:extend',
  body: ref(LicenseExtend),
});

export const changeLicenseUpdates = change({
  id: 'changeLicenseUpdates',
  path: 'licenses/:id/change-updates',
  summary: 'Change until when a license gets new versions',
  description: 'By days, or to a date. Later renewals of its updates extend from the new end.',
  permission: 'licenses:extend',
  body: ref(LicenseUpdatesChange),
});

export const changeMachineLimit = change({
  id: 'changeMachineLimit',
  path: 'licenses/:id/change-limit',
  summary: 'Change how many machines a license allows',
  description: 'Machines beyond a lower limit stay active. Payments do not go below it.',
  permission: 'licenses:change',
  body: ref(LicenseLimitChange),
});

export const allowLicenseMoves = change({
  id: 'allowLicenseMoves',
  path: 'licenses/:id/allow-moves',
  summary: 'Allow activations beyond the move limit of a license',
  permission: 'licenses:extend',
  body: ref(LicenseMovesChange),
});

export const changeLicenseOwner = change({
  id: 'changeLicenseOwner',
  path: 'licenses/:id/change-owner',
  summary: 'Change the customer or the note of a license',
  description: 'From a change of the customer on, payments do not change the customer.',
  permission: 'licenses:change',
  body: ref(LicenseOwnerChange),
});

export const freeMachine = operation({
  id: 'freeMachine',
  method: 'POST',
  path: 'licenses/:id/machines/:activation_id/free',
  summary: 'Free a machine of a license',
  description:
    'Works with every status of the license, and can be repeated. An offline machine continues until its token expires.',
  permission: 'activations:deactivate',
  params: Type.Object({ id: uuid(), activation_id: uuid() }),
  body: ref(LicenseReason),
  response: changed,
  errors: ['license_not_found', 'activation_not_found'],
});
