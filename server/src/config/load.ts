import { readFileSync, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { loadCatalog } from './catalog.ts';
import { defaults, findConflicts, toConfig } from './config.ts';
import type { Config } from './config.ts';
import { describeConfiguration, type DescribedSetting } from './describe-settings.ts';
import { findWorkingDirectory, readDotEnv } from './dot-env.ts';
import { readEnvironment } from './env.ts';
import type { Environment, Variables } from './env.ts';
import { findAuthorityProblems, findLateVariables } from './process-variables.ts';
import { readOrCreateMasterSecret, readPreviousSecrets } from './master-secret.ts';
import { toSecrets } from './secrets.ts';
import type { Secrets } from './secrets.ts';
import { StartupError } from './startup-error.ts';

/** A configuration without its secrets, before anything is created. */
export interface ConfigurationReading {
  readonly config: Config;
  readonly environment: Environment;
  /** One sentence each; if there are any, the configuration has defaults in their place and cannot be used. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** A valid configuration with its secrets. */
export interface LoadedConfiguration {
  readonly config: Config;
  readonly secrets: Secrets;
  /** The settings in effect, without secrets. */
  readonly settings: readonly DescribedSetting[];
  readonly warnings: readonly string[];
}

const MAX_SECRET_FILE_BYTES = 64 * 1024;

/**
 * Reads the environment and a `.env` file in the working directory (the environment takes precedence). Changes nothing.
 * @param workingDirectory null when it was removed
 */
export function readConfiguration(
  variables: Variables = process.env,
  workingDirectory: string | null = findWorkingDirectory(),
): ConfigurationReading {
  const dotEnv = readDotEnv(workingDirectory);
  const all = { ...dotEnv.variables, ...variables };
  const { environment, problems, warnings } = readEnvironment(all, readSecretFile);
  const unreadable = dotEnv.warning === null ? [] : [dotEnv.warning];
  const found = [
    ...problems,
    ...findConflicts(environment),
    ...findMissing(environment, all),
    ...(workingDirectory === null ? findRelativePaths(environment) : []),
  ];
  return {
    config: toConfig(environment, workingDirectory ?? '/'),
    environment,
    // What is missing may be in the file that cannot be read.
    problems: found.length === 0 ? [] : [...found, ...unreadable],
    warnings: [
      ...(found.length === 0 ? unreadable : []),
      ...warnings,
      ...findLateVariables(dotEnv.variables, variables),
      // Often the system's own authorities, which are larger than a secret.
      ...findAuthorityProblems(variables['NODE_EXTRA_CA_CERTS'], (path) =>
        readFileSync(path, 'utf8'),
      ),
    ],
  };
}

/** Reads the variables of a process and of a `.env` file in the working directory; the process takes precedence. */
export function readVariables(variables: Variables = process.env): Variables {
  return { ...readDotEnv(findWorkingDirectory()).variables, ...variables };
}

/**
 * Reads the configuration and its secrets. The first start with the embedded database creates the master secret.
 * @throws StartupError with all problems
 */
export function loadConfiguration(
  variables: Variables = process.env,
  workingDirectory: string | null = findWorkingDirectory(),
): LoadedConfiguration {
  const { config, environment, problems, warnings } = readConfiguration(
    variables,
    workingDirectory,
  );
  if (problems.length > 0) {
    throw new StartupError([...problems, ...findCatalogProblems(config.catalogPath)]);
  }
  const settings = describeConfiguration(config, environment);
  if (environment.masterSecret !== undefined) {
    return {
      config,
      settings,
      warnings,
      secrets: toSecrets(environment, environment.masterSecret),
    };
  }
  const { secret, warning } = readOrCreateMasterSecret(config.dataDirectory);
  return {
    config,
    settings,
    warnings: warning === null ? warnings : [...warnings, warning],
    secrets: toSecrets(environment, secret, readPreviousSecrets(config.dataDirectory)),
  };
}

/** Reported with invalid settings, so that both can be fixed at once. */
function findCatalogProblems(path: string): readonly string[] {
  try {
    loadCatalog(path);
    return [];
  } catch (error) {
    if (error instanceof StartupError) return error.problems;
    throw error;
  }
}

/** Several processes may share an external database: the others would not know a secret that one of them creates. */
function findMissing(environment: Environment, variables: Variables): readonly string[] {
  const given = variables['LATCHKEY_SECRET'] ?? variables['LATCHKEY_SECRET_FILE'] ?? '';
  if (environment.databaseUrl === undefined || given.trim() !== '') return [];
  return [
    'LATCHKEY_SECRET must be set when DATABASE_URL is: make one with openssl rand -base64 32 and keep it safe, since license keys cannot be read without it.',
  ];
}

/** Relative paths have no base when the working directory was removed. */
function findRelativePaths({ dataDirectory, catalogPath }: Environment): readonly string[] {
  const paths = {
    LATCHKEY_DATA_DIR: dataDirectory ?? defaults.dataDirectory,
    LATCHKEY_CATALOG: catalogPath ?? defaults.catalogPath,
  };
  return Object.entries(paths)
    .filter(([, path]) => !isAbsolute(path))
    .map(
      ([name]) =>
        `${name} must be an absolute path, because the working directory was removed: set it, or start in another directory.`,
    );
}

function readSecretFile(path: string): string {
  if (statSync(path).size > MAX_SECRET_FILE_BYTES) throw new Error('larger than 64 KiB');
  return readFileSync(path, 'utf8');
}
