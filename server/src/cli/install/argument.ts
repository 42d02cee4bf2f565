import { Argument, InvalidArgumentError } from 'commander';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u;

/** The id that the application gave itself when it was installed. */
export function installArgument(): Argument {
  return new Argument('<install_id>', "the install's id").argParser((text) => {
    const id = text.toLowerCase();
    if (UUID.test(id)) return id;
    throw new InvalidArgumentError(
      'It must be an id such as 6f1c2b9e-3a7d-4c55-9e0b-0d3f1a2b4c5d.',
    );
  });
}
