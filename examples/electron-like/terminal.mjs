// The program in a terminal: `node terminal.mjs`.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { Latchkey, useSystemCertificates } from '@latchkey/client/node';

import { describeMachine, describeResult, describeState, exportPicture } from './screens.mjs';
import { settings } from './settings.mjs';

useSystemCertificates();
const latchkey = await Latchkey.open({
  ...settings,
  folder: process.env.LICENSE_FOLDER ?? join(homedir(), '.electron-like'),
  onProblem: ({ code, message }) => console.error(`${code}: ${message}`),
});

function show() {
  const { title, text, actions } = describeState(latchkey.state);
  console.log(`${title}. ${text}`);
  console.log(`You can: ${[...actions, 'export', 'support', 'quit'].join(', ')}`);
}

function report(result) {
  const sentence = describeResult(result);
  if (sentence !== '') console.log(sentence);
}

/** Lists the machines that are in use; `free NUMBER` frees one of them. */
let listed = [];
async function list() {
  const result = await latchkey.machines();
  if (!result.ok) return report(result);
  listed = result.machines.filter(({ isActive }) => isActive);
  for (const [index, machine] of listed.entries()) {
    console.log(`${index + 1}. ${describeMachine(machine)}`);
  }
}

async function activate(key) {
  const result = await latchkey.activate(key);
  report(result);
  if (result.code !== 'activation_limit_reached') return;
  await list();
  console.log('free NUMBER frees one of them and activates this computer.');
}

const commands = {
  activate,
  trial: async () => report(await latchkey.startTrial()),
  check: async () => report(await latchkey.check()),
  machines: list,
  free: async (number) => report(await latchkey.moveHere(listed[number - 1]?.activationId ?? '')),
  deactivate: async () => report(await latchkey.deactivate()),
  export: async () => console.log(exportPicture(latchkey)),
  support: async () => console.log(await latchkey.explain()),
};

latchkey.onChange(show);
latchkey.keepChecking();
show();
const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' });
lines.prompt();
for await (const line of lines) {
  const [name = '', argument = ''] = line.trim().split(/\s+(.*)/);
  if (name === 'quit') break;
  await (commands[name] ?? show)(argument);
  lines.prompt();
}
lines.close();
await latchkey.close();
