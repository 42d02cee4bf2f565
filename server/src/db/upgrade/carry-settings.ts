import { escapeLiteral } from 'pg';
import type { Pool } from 'pg';
import { Type, type Static } from 'typebox';

import { FIXED_SETTINGS } from '../embedded/settings.ts';
import { sendQuery } from '../send-query.ts';
import { defineStatement, queryRows } from '../statement.ts';

const Setting = Type.Object({ name: Type.String(), setting: Type.String() });
type Setting = Readonly<Static<typeof Setting>>;

/** The last line of a setting in the configuration files counts. */
const listStatement = defineStatement(
  'upgrade_list_settings',
  Setting,
  `select distinct on (name) name, setting from pg_file_settings
   where setting is not null and error is null order by name, seqno desc`,
);

/**
 * Sets what an operator has changed in the configuration of the old cluster in the new one, as ALTER SYSTEM does.
 * @returns the settings that the new server refuses
 */
export async function carrySettings(from: Pool, to: Pool): Promise<string[]> {
  const existing = new Map((await listSettings(to)).map(({ name, setting }) => [name, setting]));
  const changed = (await listSettings(from)).filter(
    ({ name, setting }) => existing.get(name) !== setting && FIXED_SETTINGS[name] === undefined,
  );
  const refused: string[] = [];
  for (const each of changed) if (!(await isAccepted(to, each))) refused.push(each.name);
  return refused;
}

function listSettings(db: Pool): Promise<Setting[]> {
  return queryRows(db, listStatement);
}

async function isAccepted(db: Pool, { name, setting }: Setting): Promise<boolean> {
  // Names of settings consist of letters, digits, underscores and dots.
  if (!/^[a-z_][a-z0-9_.]{0,100}$/iu.test(name)) return false;
  try {
    await sendQuery(db, { text: `alter system set ${name} = ${escapeLiteral(setting)}` });
    return true;
  } catch {
    // The setting no longer exists, or has other values.
    return false;
  }
}
