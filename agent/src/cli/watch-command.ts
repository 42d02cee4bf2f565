import { Command, InvalidArgumentError, Option } from 'commander';

import { messageOf } from '../errors.ts';
import type { Message } from '../watch/read-message.ts';
import type { Target, TargetOptions } from '../watch/target.ts';
import type { View } from '../watch/view.ts';
import { commandProcess } from './command-process.ts';
import { jsonOption, type OutputOptions, printNote, withExamples } from './output.ts';

interface Options extends OutputOptions, TargetOptions {
  readonly once?: boolean;
}

/** An invalid command line, as for the other commands. */
const USAGE_EXIT_CODE = 2;

const EXIT_CODES = `
Exit codes: 0; 2: invalid option or unreadable file; 69: unreachable;
76: not trusted, or not an agent; 77: refused by the agent.`;

/** `latchkey-agent watch`: shows the stream of an agent. */
export function watchCommand(): Command {
  const command = new Command('watch')
    .description('Show the figures of a machine live in the terminal; q quits.')
    .argument(
      '<address>',
      'the agent or its proxy: wss://db-1.example.com:4096, wss://db-1.example.com/latchkey',
    )
    .option('--token-file <file>', 'a file with an access token in the first line')
    .option('--certificate <file>', 'your client certificate (PEM)')
    .option('--key <file>', 'its key (PEM)')
    .addOption(
      new Option('--pkcs12 <file>', 'client certificate and key in one file (PKCS#12)').conflicts([
        'certificate',
        'key',
      ]),
    )
    .option('--passphrase-file <file>', 'a file with the passphrase of the key')
    .option('--ca <file>', 'trust this authority (PEM) instead of the public ones')
    .addOption(
      new Option('--fingerprint <sha256:…>', 'trust only this certificate instead').conflicts('ca'),
    )
    .option('--once', 'print one snapshot and quit')
    .addOption(jsonOption())
    .action(watch);
  return withExamples(command, [
    ['watch wss://db-1.example.com/latchkey', 'Behind a proxy with a public certificate'],
    ['watch wss://db-1:4096 --ca ca.pem --certificate me.pem --key me.key', 'With mutual TLS'],
    ['watch wss://10.0.0.7:4096 --fingerprint sha256:1f2e… --token-file token', 'With a token'],
    ['watch wss://db-1.example.com:4096 --json | jq .memory.usage_ratio', 'For a program'],
  ]).addHelpText('after', EXIT_CODES);
}

async function watch(address: string, options: Options, command: Command): Promise<void> {
  const { EXIT_CODES: codes, WatchFailure } = await import('../watch/failure.ts');
  const target = await readTarget(address, options, command);
  try {
    await show(target, options);
  } catch (error) {
    if (!(error instanceof WatchFailure)) throw error;
    printNote(error.message);
    commandProcess().exitCode = codes[error.kind];
  }
}

async function readTarget(address: string, options: Options, command: Command): Promise<Target> {
  const { openTarget, parseAddress, parseFingerprint } = await import('../watch/target.ts');
  try {
    const url = parseOption('address', address, parseAddress);
    const { fingerprint } = options;
    const pinned =
      fingerprint === undefined
        ? {}
        : { fingerprint: parseOption('--fingerprint', fingerprint, parseFingerprint) };
    return openTarget(url, { ...options, ...pinned });
  } catch (error) {
    const message = messageOf(error);
    return command.showHelpAfterError(false).error(message, { exitCode: USAGE_EXIT_CODE });
  }
}

function parseOption<T>(name: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`${name} '${text}' is invalid: ${messageOf(error)}.`);
  }
}

async function show(target: Target, options: Options): Promise<void> {
  using stop = abortOnStop();
  const end = (): void => stop.abort();
  // The reader may close the pipe, as head does.
  commandProcess().stdout.on('error', end);
  const { runSession } = await import('../watch/session.ts');
  const isDrawn = commandProcess().stdout.isTTY && process.env['TERM'] !== 'dumb';
  if (options.once !== true && options.json !== true && isDrawn) {
    const { drawSession } = await import('../watch/terminal.ts');
    await drawSession(target, stop);
    return;
  }
  const print = await choosePrinter(options);
  let noted = '';
  const onChange = (view: View, message: Message | null): void => {
    const why = view.state.kind === 'waiting' ? view.state.why : '';
    if (why !== noted && why !== '') printNote(why);
    noted = view.state.kind === 'connecting' ? noted : why;
    if (message?.kind !== 'snapshot' || stop.signal.aborted) return;
    commandProcess().stdout.write(`${print(view)}\n`);
    if (options.once === true) end();
  };
  await runSession({ target, signal: stop.signal, onChange });
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Returns a controller that a stop signal aborts, until it is disposed of. */
function abortOnStop(): AbortController & Disposable {
  const controller = new AbortController();
  const end = (): void => controller.abort();
  for (const signal of STOP_SIGNALS) process.once(signal, end);
  return Object.assign(controller, {
    [Symbol.dispose]() {
      for (const signal of STOP_SIGNALS) process.off(signal, end);
    },
  });
}

async function choosePrinter({ json, once }: Options): Promise<(view: View) => string> {
  if (json === true) return ({ snapshot }) => JSON.stringify(snapshot);
  if (once === true) {
    const { formatSnapshot } = await import('./snapshot-table.ts');
    return ({ hello, snapshot }) =>
      hello === null || snapshot === null ? '' : formatSnapshot(hello.host, snapshot);
  }
  const { describeSnapshot } = await import('../watch/view.ts');
  return ({ snapshot }) => (snapshot === null ? '' : describeSnapshot(snapshot));
}
