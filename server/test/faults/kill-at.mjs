/** Preloaded by a command: kills the process at the step that KILL_AT names. */
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

import { Client } from 'pg';

const step = process.env['KILL_AT'];
const die = () => process.kill(process.pid, 'SIGKILL');

const { link, rename, rm } = fs;
fs.link = async (from, to) => {
  if (step === 'before the link') die();
  await link(from, to);
  if (step === 'after the link') die();
};
let renames = 0;
fs.rename = async (from, to) => {
  renames += 1;
  if (step === 'before the rename' || step === `before rename ${renames}`) die();
  await rename(from, to);
  if (step === 'after the rename' || step === `after rename ${renames}`) die();
};
fs.rm = async (path, options) => {
  await rm(path, options);
  if (step === 'after the temporary name is removed') die();
};
syncBuiltinESMExports();

/** The beginnings of the statements before which the process is killed. */
const STATEMENTS = {
  'while the file is written': 'fetch forward',
  'before the file is recorded': 'insert into event_archives',
  'before the drop': 'drop table',
  'before the commit of the drop': 'commit',
  'before the tables are locked': 'lock table',
  'while tables are restored': 'alter table licenses ',
  'while settings are copied': 'select distinct on (name) name, setting',
  'before the commit': 'commit',
};

let dropped = false;
const query = Reflect.get(Client.prototype, 'query');
Client.prototype.query = function (config, ...rest) {
  const text = String(config?.text ?? config).trim();
  dropped ||= text.startsWith('drop table');
  const beginning = STATEMENTS[step];
  if (beginning !== undefined && text.startsWith(beginning)) {
    if (dropped || step !== 'before the commit of the drop') die();
  }
  return query.call(this, config, ...rest);
};

const { fetch } = globalThis;
globalThis.fetch = async (url, options) => {
  if (step === 'before the upload' && options?.method === 'PUT') die();
  const response = await fetch(url, options);
  if (step === 'after the upload' && options?.method === 'PUT') die();
  return response;
};
