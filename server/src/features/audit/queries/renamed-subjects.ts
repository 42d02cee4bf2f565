import { defineCommand, execute, toColumns, type Queryable } from '#server/db/statement.ts';

/** A subject whose id is an HMAC: its id under a previous master secret, and under the current one. */
export interface RenamedSubject {
  readonly previousId: string;
  readonly currentId: string;
}

/**
 * Ids without entries are left out. `oldest` contains the ids of still older secrets, which now lead to the current id as well,
 * so that one look-up finds them all.
 */
const renameStatement = defineCommand(
  'audit_rename_subject',
  `with pair as (select * from unnest($1::text[], $2::text[]) as pair (previous_id, current_id)),
   oldest as (
     select r.previous_id, pair.current_id from audit_renamed_subjects r join pair on r.current_id = pair.previous_id
   )
   insert into audit_renamed_subjects (previous_id, current_id)
   select * from (
     select previous_id, current_id from pair
     where exists (select from audit_log where subject_id = pair.previous_id)
     union select previous_id, current_id from oldest
   ) renamed where previous_id <> current_id order by previous_id
   on conflict (previous_id) do update set current_id = excluded.current_id
   where audit_renamed_subjects.current_id <> excluded.current_id`,
);

/** Records new ids of subjects. The entries keep the ids under which they were recorded, because they are hashed. */
export async function renameAuditSubjects(
  db: Queryable,
  subjects: readonly RenamedSubject[],
): Promise<void> {
  const unique = [...new Map(subjects.map((each) => [each.previousId, each])).values()];
  await execute(db, renameStatement, toColumns(unique, ['previousId', 'currentId']));
}
