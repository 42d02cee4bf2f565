// A program with a license: `node main.mjs help` lists what it does.
import { homedir } from 'node:os';
import { join } from 'node:path';

import { Latchkey } from '@latchkey/client/node';

const service = process.env.LICENSE_SERVICE ?? 'http://127.0.0.1:8080';
const latchkey = await Latchkey.open({
  service,
  issuer: process.env.LICENSE_ISSUER ?? service,
  products: ['personal', 'sellers'],
  publicKeys: [], // compile in the list `keys` of /.well-known/jwks.json of your service
  folder: process.env.LICENSE_FOLDER ?? join(homedir(), '.example-program'),
  appVersion: '1.0.0',
  onProblem: ({ code, message }) => console.error(`${code}: ${message}`),
});

function describe({ kind, tier, daysLeft, reason }) {
  if (kind === 'licensed') return `Licensed: ${tier}. Runs without a network for ${daysLeft} days.`;
  if (kind === 'trial') return `Trial: ${daysLeft} days left.`;
  if (reason === 'not_activated') return 'No license yet: activate KEY, or trial.';
  return `May not run: ${reason}.`;
}

function report(result) {
  if (result.ok) return console.log(describe(latchkey.state));
  if (result.code === 'no_answer') return console.log(`No answer of the service: ${result.cause}.`);
  console.log(`Refused: ${result.code}.`);
}

const commands = {
  state: async () => console.log(describe(latchkey.state)),
  activate: async (key) => report(await latchkey.activate(key)),
  trial: async () => report(await latchkey.startTrial()),
  check: async () => report(await latchkey.check()),
  async machines() {
    const result = await latchkey.machines();
    if (!result.ok) return report(result);
    for (const { activationId, isActive, isThis } of result.machines) {
      const status = isActive ? 'active' : 'free';
      console.log(`${activationId}  ${status}${isThis ? '  (this one)' : ''}`);
    }
  },
  move: async (activationId) => report(await latchkey.moveHere(activationId)),
  deactivate: async () => report(await latchkey.deactivate()),
  explain: async () => console.log(await latchkey.explain()),
  help: async () => console.log(`Commands: ${Object.keys(commands).join(', ')}`),
};

const [command = 'state', argument = ''] = process.argv.slice(2);
await (commands[command] ?? commands.help)(argument);
await latchkey.close();
