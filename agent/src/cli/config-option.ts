import { Option } from 'commander';

import { CONFIG_PATH } from '../config/load-config.ts';

/** The option of every command that reads the configuration. */
export interface ConfigOptions {
  readonly config: string;
}

export function configOption(): Option {
  return new Option('-c, --config <file>', 'the configuration file').default(CONFIG_PATH);
}
