import { type Static, Type } from 'typebox';

import { machineId, sharedDevices } from './admin-customers.ts';
import { archiveLocations } from './admin-installs.ts';
import { reason } from './admin-list.ts';
import { jsonFile, operation } from './operation.ts';
import { email, ref, text, uuid } from './schema.ts';

const MAX_INCLUDED = 200;

const includeShared = {
  include_shared_installs: Type.Optional(
    Type.Array(uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }), {
      description:
        'The shared installs whose events are treated as the data of this person. Others are ignored.',
      maxItems: MAX_INCLUDED,
    }),
  ),
  include_shared_machines: Type.Optional(
    Type.Array(text(machineId), {
      description: 'The same for shared machines and their days of use.',
      maxItems: MAX_INCLUDED,
    }),
  ),
};

const CustomerExport = Type.Object(
  { email: email({ examples: ['ada@example.com'] }), reason, ...includeShared },
  { $id: 'CustomerExport', additionalProperties: false },
);

const revoke = Type.Optional(
  Type.Boolean({
    description: 'Whether the licenses are revoked too; default: they stay valid.',
    examples: [false],
  }),
);

const CustomerErasurePlanRequest = Type.Object(
  { email: email({ examples: ['ada@example.com'] }), revoke, ...includeShared },
  { $id: 'CustomerErasurePlanRequest', additionalProperties: false },
);

const CustomerErasurePlan = Type.Object(
  {
    tables: Type.Array(
      Type.Object({
        table: Type.String({ examples: ['licenses'] }),
        rows: Type.Integer({ examples: [2] }),
        outcome: Type.String({ examples: ['address, name and note deleted; still valid'] }),
      }),
    ),
    unapplied_events: Type.Integer({
      description:
        'Payment events that were not applied and keep their bodies: replay or dismiss them first.',
      examples: [0],
    }),
    ...sharedDevices,
  },
  { $id: 'CustomerErasurePlan', description: 'What an erasure would delete and keep.' },
);
export type CustomerErasurePlan = Static<typeof CustomerErasurePlan>;

const CustomerErase = Type.Object(
  { email: email({ examples: ['ada@example.com'] }), reason, revoke, ...includeShared },
  { $id: 'CustomerErase', additionalProperties: false },
);

const CustomerErased = Type.Object(
  {
    licenses: Type.Integer({ examples: [2] }),
    removed_bodies: Type.Integer({ examples: [5] }),
    kept_bodies: Type.Integer({
      description:
        'Of payment events that were not applied. Replay or dismiss them, then erase again.',
      examples: [0],
    }),
    kept_installs: Type.Integer({
      description: 'Shared installs that were not included, and keep their events.',
      examples: [0],
    }),
    kept_machines: Type.Integer({
      description: 'Shared machines that were not included, and keep their days of use.',
      examples: [0],
    }),
    archives: archiveLocations,
  },
  { $id: 'CustomerErased' },
);
export type CustomerErased = Static<typeof CustomerErased>;

export const exportCustomer = operation({
  id: 'exportCustomer',
  method: 'POST',
  path: 'customer/export',
  summary: 'Export all data stored about the owner of an e-mail address',
  description:
    'Reads all payment events, which may take minutes; spaces are sent until the data begin. One at a time. The audit log records each export.',
  permission: 'customers:export',
  body: ref(CustomerExport),
  response: jsonFile('The rows of every table, and the events of the installs.'),
});

export const planCustomerErasure = operation({
  id: 'planCustomerErasure',
  method: 'POST',
  path: 'customer/plan-erasure',
  summary: 'List what an erasure would delete and keep',
  description: 'Changes nothing. Reads all payment events, which may take minutes.',
  permission: 'customers:erase',
  body: ref(CustomerErasurePlanRequest),
  response: ref(CustomerErasurePlan, 'The tables with data of the person.'),
});

export const eraseCustomer = operation({
  id: 'eraseCustomer',
  method: 'POST',
  path: 'customer/erase',
  summary: 'Erase the owner of an e-mail address',
  description:
    'Licenses stay valid without their customer, unless `revoke` is true. Erase the customer at the payment provider first, since data that it sends later is stored again. Archived events stay in the files of `archives`. If it is interrupted, repeat it.',
  permission: 'customers:erase',
  body: ref(CustomerErase),
  response: ref(CustomerErased, 'The data was erased.'),
});
