/** Declares commands: their help, their parameters, and the result that each prints. */
import { Command, Option } from 'commander';

import { commandProcess } from './command-process.ts';
import { printNote } from './output.ts';
import { flag, type Parameter, type Values } from './parameters.ts';
import { cleanJson } from './terminal-text.ts';

/** What a command prints. */
export interface Result {
  /** Printed with --json. */
  readonly json: unknown;
  readonly text: string;
  /** Printed on standard error after the result. */
  readonly note?: string | null;
  /** The --cursor of the next page of a list; null after the last one. */
  readonly nextCursor?: string | null;
  /** Whether the exit code is 1. */
  readonly failed?: boolean;
}

export type Parameters = readonly Parameter<string, unknown>[];

/** Returned by a command without a result; it has no --json, or prints its result itself. */
export type MaybeResult = Result | void;

/** The values of the parameters, and whether to print JSON. */
export type CommandValues<Declared extends Parameters> = Values<Declared> & {
  readonly json: boolean;
};

/** The help of a command. */
export interface Help {
  readonly name: string;
  /** Its first sentence is shown in the list of commands. */
  readonly description: string;
  /** Command lines without the name of the program, each with its purpose. */
  readonly examples: Readonly<Record<string, string>>;
}

/** The help and the parameters of a command. */
export interface CommandInterface<Declared extends Parameters> extends Help {
  readonly parameters?: Declared;
  /** False for a command that prints no result. */
  readonly hasJson?: false;
}

interface CommandDeclaration<Declared extends Parameters> extends CommandInterface<Declared> {
  readonly run: (values: CommandValues<Declared>) => MaybeResult | Promise<MaybeResult>;
}

const jsonFlag = flag('--json', 'print JSON');

/** Declares a command. The returned function builds it. */
export function command<const Declared extends Parameters = []>(
  declared: CommandDeclaration<Declared>,
): () => Command {
  const parameters = [
    ...(declared.parameters ?? []),
    ...(declared.hasJson === false ? [] : [jsonFlag]),
  ];
  return () => {
    const built = newCommand(declared);
    for (const { declaration } of parameters) {
      if (declaration instanceof Option) built.addOption(declaration);
      else built.addArgument(declaration);
    }
    return built.action(async () => {
      addMissingValues(built, parameters);
      const values = built.opts<CommandValues<Declared>>();
      const result = await declared.run(values);
      if (typeof result === 'object') printResult(values.json, result);
    });
  };
}

/** Creates a command with its help. */
export function newCommand({ name, description, examples }: Help): Command {
  const lines = Object.entries(examples).map(
    ([line, purpose]) => `  # ${purpose}\n  latchkey ${line}`,
  );
  const [summary = description] = /^.*?\.(?=\s|$)/su.exec(description) ?? [];
  return new Command(name)
    .summary(summary)
    .description(description)
    .addHelpText('after', `\nExamples:\n${lines.join('\n\n')}`);
}

/** Adds the arguments, and the parameters that were not given, to the values of the options. */
function addMissingValues(built: Command, parameters: Parameters): void {
  for (const [index, each] of built.registeredArguments.entries()) {
    built.setOptionValue(each.name(), built.processedArgs[index]);
  }
  for (const { declaration, absent } of parameters) {
    const name = declaration instanceof Option ? declaration.attributeName() : declaration.name();
    if (built.getOptionValue(name) === undefined) built.setOptionValue(name, absent);
  }
}

/** Declares a command that only has other commands. */
export function commandGroup(
  name: string,
  description: string,
  commands: readonly (() => Command)[],
): () => Command {
  return () => {
    const built = new Command(name).description(description);
    for (const build of commands) built.addCommand(build());
    return built;
  };
}

/** Prints a result on standard output, and its notes on standard error. */
function printResult(asJson: boolean, result: Result): void {
  const { json, text, note = null, nextCursor = null, failed = false } = result;
  const shown = asJson ? cleanJson(JSON.stringify(json, null, 2)) : text;
  commandProcess().stdout.write(`${shown.trimEnd()}\n`);
  if (note !== null) printNote(note);
  if (nextCursor !== null && !asJson) {
    printNote(`More entries: repeat the command with --cursor ${nextCursor}`);
  }
  if (failed) commandProcess().exitCode = 1;
}
