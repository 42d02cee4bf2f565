/** The commands of the conformance protocol, by name. */
import { Latchkey, type Trigger } from '../src/node.ts';
import { learnTime, NEW_CLOCK, readClock } from '../src/clock/clock.ts';
import { isObject, type JsonObject } from '../src/json.ts';
import { readKey } from '../src/keys/license-key.ts';
import { readFingerprint } from '../src/machine/fingerprint.ts';
import { readMachineIdFile } from '../src/machine/linux.ts';
import { readIoregOutput } from '../src/machine/macos.ts';
import { readRegistryOutput } from '../src/machine/windows.ts';
import { nodeCryptography } from '../src/node/cryptography.ts';
import { readPublicKeys } from '../src/tokens/public-keys.ts';
import { verifyToken } from '../src/tokens/verify.ts';
import { VERSION } from '../src/version.ts';
import { numberOrNull, text, texts } from './fields.ts';
import { renderMachine, renderResult, renderState } from './render.ts';

type Command = (fields: JsonObject) => Promise<object>;

const TRIGGERS: readonly Trigger[] = [
  'startup',
  'scheduled',
  'foreground',
  'wake',
  'reconnect',
  'manual',
];

/** Creates the commands of one client, which `open` opens. */
export function createCommands(): ReadonlyMap<string, Command> {
  let opened: Latchkey | null = null;
  let nowMs: number | null = null;
  const problems: string[] = [];
  const report = (code: string): void => void problems.push(code);
  const client = (): Latchkey => {
    if (opened === null) throw new Error('the first command must be open');
    return opened;
  };
  const state = (): object => {
    const reported = problems.splice(0);
    const shown = { state: renderState(client().state) };
    return reported.length === 0 ? shown : { ...shown, problems: reported };
  };
  const commands = new Map<string, Command>([
    [
      'open',
      async (fields) => {
        nowMs = numberOrNull(fields, 'now_ms');
        opened = await open(fields, () => nowMs ?? Date.now(), report);
        return state();
      },
    ],
    [
      'clock',
      async (fields) => {
        nowMs = numberOrNull(fields, 'now_ms');
        return state();
      },
    ],
    ['state', async () => state()],
    ['verify', verify],
    ['clock_steps', stepClock],
    ['fingerprint', readPrinted],
    ['key', async (fields) => readTypedKey(text(fields, 'text'))],
    ['explain', async () => ({ text: await client().explain() })],
    [
      'close',
      async () => {
        await opened?.close();
        return {};
      },
    ],
  ]);
  for (const [name, call] of createCalls(client)) {
    commands.set(name, async (fields) => ({ result: await call(fields), ...state() }));
  }
  const supports = [...commands.keys()];
  commands.set('hello', async () => ({ client: 'typescript', version: VERSION, supports }));
  return commands;
}

/** The calls of an open client, whose result is followed by its state. */
function createCalls(client: () => Latchkey): ReadonlyMap<string, Command> {
  return new Map<string, Command>([
    ['activate', async (fields) => renderResult(await client().activate(text(fields, 'key')))],
    ['trial', async () => renderResult(await client().startTrial())],
    [
      'check',
      async ({ trigger }) => {
        const known = TRIGGERS.find((each) => each === trigger);
        return renderResult(await client().check(known ?? 'manual'));
      },
    ],
    [
      'machines',
      async () =>
        renderResult(await client().machines(), ({ machines }) => ({
          machines: machines.map(renderMachine),
        })),
    ],
    [
      'move_here',
      async (fields) => renderResult(await client().moveHere(text(fields, 'activation_id'))),
    ],
    ['deactivate', async () => renderResult(await client().deactivate())],
    [
      'offline_request',
      async (fields) => {
        const name = typeof fields['name'] === 'string' ? fields['name'] : null;
        const order = { product: text(fields, 'product'), name };
        return renderResult(await client().offlineRequest(order), ({ request }) => ({ request }));
      },
    ],
    [
      'accept_offline',
      async (fields) => renderResult(await client().acceptOffline(text(fields, 'text'))),
    ],
  ]);
}

async function open(
  fields: JsonObject,
  now: () => number,
  report: (code: string) => void,
): Promise<Latchkey> {
  const machine = readFingerprint(fields['machine']);
  const timeoutMs = numberOrNull(fields, 'timeout_ms');
  return Latchkey.open({
    service: text(fields, 'service'),
    issuer: text(fields, 'issuer'),
    products: texts(fields, 'products'),
    publicKeys: readPublicKeys(fields['public_keys']),
    folder: text(fields, 'folder'),
    appVersion: text(fields, 'app_version'),
    ...(machine === null ? {} : { machine }),
    ...(timeoutMs === null ? {} : { timeoutMs }),
    now,
    onProblem: ({ code, message }) => {
      process.stderr.write(`${code}: ${message}\n`);
      if (/^(?:file_damaged|folder_unwritable)$/.test(code)) report(code);
    },
  });
}

async function verify(fields: JsonObject): Promise<object> {
  const { nonce } = fields;
  const reading = await verifyToken(
    text(fields, 'token'),
    {
      keys: readPublicKeys(fields['public_keys']),
      issuer: text(fields, 'issuer'),
      products: texts(fields, 'products'),
      machineId: text(fields, 'machine_id'),
      nonce: typeof nonce === 'string' ? nonce : null,
      nowMs: numberOrNull(fields, 'now_ms') ?? Date.now(),
    },
    nodeCryptography,
  );
  return { verdict: reading.verdict };
}

function readTypedKey(typed: string): object {
  const { key, verdict } = readKey(typed);
  return { key: verdict === 'mistyped' ? null : key, verdict };
}

/** Computes the clock from an empty state. */
async function stepClock({ steps }: JsonObject): Promise<object> {
  let clock = NEW_CLOCK;
  const readings = (Array.isArray(steps) ? steps : []).map((step: unknown) => {
    const fields = isObject(step) ? step : {};
    const deviceMs = numberOrNull(fields, 'device_ms') ?? 0;
    const serviceMs = numberOrNull(fields, 'service_ms');
    if (serviceMs !== null) clock = learnTime(clock, deviceMs, serviceMs);
    const { nowMs, wentBack } = readClock(clock, deviceMs);
    return { now_ms: nowMs, clock_went_back: wentBack };
  });
  return { steps: readings };
}

const READERS = new Map([
  ['machine-id', readMachineIdFile],
  ['reg.exe', readRegistryOutput],
  ['ioreg', readIoregOutput],
]);

async function readPrinted(fields: JsonObject): Promise<object> {
  const read = READERS.get(text(fields, 'source'));
  return { machine_id: read?.(text(fields, 'text')) ?? null };
}
