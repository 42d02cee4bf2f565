/** Manual pages (man(7)) of command lines, from their help. */
import { gzipSync } from 'node:zlib';

import type { Command } from 'commander';

import type { TarEntry } from '../../../agent/src/system/tar.ts';
import { MODIFIED_AT } from '../compress.ts';

/**
 * Renders the manual page of a program, in the section of user commands.
 * @param version of the release
 * @param files paths that the page names, each with what it contains
 */
export function renderManual(
  program: Command,
  version: string,
  files: Readonly<Record<string, string>>,
): TarEntry {
  const name = program.name();
  const text = [
    `.TH ${name.toUpperCase()} 1 ${MODIFIED_AT.toISOString().slice(0, 10)} "${name} ${version}"`,
    '.SH NAME',
    escape(`${name} - ${program.description().replace(/\.$/, '')}`),
    '.SH SYNOPSIS',
    `.B ${escape(name)}\n${escape(program.usage())}`,
    '.SH OPTIONS',
    ...describeOptions(program),
    '.SH COMMANDS',
    ...listCommands(program).map((command) => describeCommand(name, command)),
    '.PP',
    escape(`"${name} COMMAND --help" prints the options of a command, with examples.`),
    '.SH FILES',
    ...Object.entries(files).map(([path, what]) => `.TP\n.I ${escape(path)}\n${escape(what)}`),
    '',
  ].join('\n');
  const content = gzipSync(text, { level: 9 });
  return { path: `usr/share/man/man1/${name}.1.gz`, content, mode: 0o644 };
}

/** The options of the program itself; those of a command are in its help. */
function describeOptions(program: Command): string[] {
  const help = program.createHelp();
  return help
    .visibleOptions(program)
    .map(
      (option) =>
        `.TP\n.B ${escape(help.optionTerm(option))}\n${escape(help.optionDescription(option))}`,
    );
}

/** The commands that the help lists, in its order. */
function listCommands(program: Command): readonly Command[] {
  return program.createHelp().visibleCommands(program);
}

function describeCommand(parent: string, command: Command): string {
  const below = listCommands(command).filter((each) => each.name() !== 'help');
  const names = below.map((each) => each.name());
  const list = names.length === 0 ? '' : `\nSubcommands: ${names.join(', ')}.`;
  return `.TP\n.B ${escape(`${parent} ${command.name()}`)}\n${escape(command.description() + list)}`;
}

/** Text in which roff finds no request, escape or hyphen. */
function escape(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^(?=['.])/gm, '\\&');
}
