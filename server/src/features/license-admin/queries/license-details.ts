import { Type, type Static } from 'typebox';

import {
  defineStatement,
  Nullable,
  queryRow,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

import { LISTED_COLUMNS, ListedLicense } from './license-list.ts';

const LicenseDetails = Type.Object({
  ...ListedLicense.properties,
  extendedUntil: Nullable.Text,
  grantedActivations: Type.Union([Type.Integer(), Type.Null()]),
  ownerChangedAt: Nullable.Timestamp,
  keyReplacedAt: Nullable.Timestamp,
});

/** A license with its machines, its checkout and what only operators see of it. */
export type LicenseDetails = Readonly<Static<typeof LicenseDetails>>;

const findStatement = defineStatement(
  'admin_license_find',
  LicenseDetails,
  `select ${LISTED_COLUMNS},
          case when extended_until = 'infinity' then 'infinity'
            else to_char(extended_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
          end as extended_until,
          granted_activations, owner_changed_at,
          (select max(occurred_at) from audit_log where subject_id = $1::text and action = 'license.rekey')
            as key_replaced_at
   from licenses l where id = $1::uuid`,
);

/** Finds a license with everything that its page shows of the license itself. */
export async function findLicenseDetails(
  db: Queryable,
  licenseId: string,
): Promise<LicenseDetails | null> {
  return queryRow(db, findStatement, [licenseId]);
}

const LicensePurchase = Type.Object({
  provider: Type.String(),
  transactionId: Type.String(),
  emailState: Nullable.Text,
  emailReason: Nullable.Text,
  emailSentAt: Type.Union([Timestamp, Type.Null()]),
});

/** The checkout of a license, and the e-mail with its key. */
export type LicensePurchase = Readonly<Static<typeof LicensePurchase>>;

const findPurchaseStatement = defineStatement(
  'admin_license_find_purchase',
  LicensePurchase,
  `select bought.provider, bought.transaction_id, email.state as email_state, email.reason as email_reason,
          email.sent_at as email_sent_at
   from billing_licenses bought
   left join key_emails email using (transaction_id, provider)
   where bought.license_id = $1
   order by email.created_at desc nulls last, bought.transaction_id
   limit 1`,
);

/** Finds the checkout of a license; null: it was not bought. */
export async function findLicensePurchase(
  db: Queryable,
  licenseId: string,
): Promise<LicensePurchase | null> {
  return queryRow(db, findPurchaseStatement, [licenseId]);
}
