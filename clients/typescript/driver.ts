/** Answers the commands of the conformance run, one JSON line each, with this client. */
import { createInterface } from 'node:readline';

import { createCommands } from './driver/commands.ts';
import { isObject, parseJson } from './src/json.ts';

const commands = createCommands();

for await (const line of createInterface({ input: process.stdin })) {
  const command = parseJson(line);
  const { do: name, ...fields } = isObject(command) ? command : {};
  const run = typeof name === 'string' ? commands.get(name) : undefined;
  const answer = run === undefined ? { unsupported: true } : await run(fields);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
  if (name === 'close') break;
}
process.exit(0);
