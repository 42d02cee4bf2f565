/** Arguments and options with types: a command receives each value as it was declared. */
import { Argument, Option } from 'commander';

/**
 * An argument or option of a command.
 * @typeParam Syntax as Commander reads it: `<file>`, `[event]`, `--since <time>`, `--all`
 */
export interface Parameter<Syntax extends string, Value> {
  readonly syntax: Syntax;
  readonly declaration: Argument | Option;
  /** The value if it is not given; undefined: Commander requires it or has a default. */
  readonly absent: Value | undefined;
}

/** The values of parameters by their names. */
export type Values<Declared extends readonly Parameter<string, unknown>[]> = {
  readonly [Each in Declared[number] as NameOf<Each['syntax']>]: Exclude<Each['absent'], undefined>;
};

type NameOf<Syntax extends string> = Syntax extends `[${infer Name}...]`
  ? Name
  : Syntax extends `<${infer Name}>` | `[${infer Name}]`
    ? Name
    : Syntax extends `--no-${infer Words}` | `--${infer Words} <${string}>`
      ? CamelCase<Words>
      : Syntax extends `--${infer Words}`
        ? CamelCase<Words>
        : never;

type CamelCase<Words extends string> = Words extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Words;

/** Parses a text, or throws `InvalidArgumentError`. */
type Parse<Value> = (text: string) => Value;

/** An argument that must be given. */
export function argument<Syntax extends `<${string}>`, Value>(
  syntax: Syntax,
  description: string,
  parse: Parse<Value>,
): Parameter<Syntax, Value> {
  const declaration = new Argument(syntax, description).argParser(parse);
  return { syntax, declaration, absent: undefined };
}

/** An argument that must be one of several words. */
export function choiceArgument<Syntax extends `<${string}>`, Choice extends string>(
  syntax: Syntax,
  description: string,
  choices: readonly Choice[],
): Parameter<Syntax, Choice> {
  const declaration = new Argument(syntax, description).choices(choices);
  return { syntax, declaration, absent: undefined };
}

/**
 * An argument that may be omitted; its value is then null.
 * @param parse reads a text of several together with the value of those before it
 */
export function optionalArgument<Syntax extends `[${string}]`, Value>(
  syntax: Syntax,
  description: string,
  parse: (text: string, previous: Value | undefined) => Value,
): Parameter<Syntax, Value | null> {
  const declaration = new Argument(syntax, description).argParser(parse);
  return { syntax, declaration, absent: null };
}

/** The parser of a value that may be any text. */
export const anyText = (text: string): string => text;

class TypedOption<Flags extends string, Value> implements Parameter<Flags, Value> {
  readonly syntax: Flags;
  readonly declaration: Option;
  readonly absent: Value | undefined;

  constructor(flags: Flags, declaration: Option, absent?: Value) {
    this.syntax = flags;
    this.declaration = declaration;
    this.absent = absent;
  }

  required(): TypedOption<Flags, NonNullable<Value>> {
    this.declaration.description += ' (required)';
    return new TypedOption(this.syntax, this.declaration.makeOptionMandatory());
  }

  /** @param shown the value as the help shows it, if that differs */
  default(value: NonNullable<Value>, shown?: string): TypedOption<Flags, NonNullable<Value>> {
    return new TypedOption(this.syntax, this.declaration.default(value, shown));
  }

  /** @param other name of the option that cannot be used together with this one, in camel case */
  conflicts(other: string): this {
    this.declaration.conflicts(other);
    return this;
  }
}

/**
 * An option with a value; null if it is not given.
 * @param parse reads a repeated option together with the value of those before it
 */
export function option<Flags extends `--${string} <${string}>`, Value>(
  flags: Flags,
  description: string,
  parse: (text: string, previous: Value | undefined) => Value,
): TypedOption<Flags, Value | null> {
  return new TypedOption(flags, new Option(flags, description).argParser(parse), null);
}

/** An option whose value is one of several words; null if it is not given. */
export function choice<Flags extends `--${string} <${string}>`, Choice extends string>(
  flags: Flags,
  description: string,
  choices: readonly Choice[],
): TypedOption<Flags, Choice | null> {
  return new TypedOption(flags, new Option(flags, description).choices(choices), null);
}

/** An option without a value; `--no-…` is true if it is not given. */
export function flag<Flags extends `--${string}`>(
  flags: Flags,
  description: string,
): TypedOption<Flags, boolean> {
  const declaration = new Option(flags, description);
  return new TypedOption(flags, declaration, declaration.negate);
}
