/** The configuration that deploy/Containerfile gives an image, in Docker's format, which OCI's extends by a health check. */

/** https://github.com/opencontainers/image-spec/blob/main/config.md */
export interface ImageConfig {
  readonly Env?: readonly string[];
  readonly User?: string;
  readonly WorkingDir?: string;
  readonly Volumes?: Readonly<Record<string, object>>;
  readonly ExposedPorts?: Readonly<Record<string, object>>;
  readonly StopSignal?: string;
  readonly Healthcheck?: Healthcheck;
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
}

/** Durations are in nanoseconds. */
interface Healthcheck {
  readonly Test: readonly string[];
  readonly Interval: number;
  readonly Timeout: number;
  readonly StartPeriod: number;
  readonly Retries: number;
}

/** The instructions that the Containerfile may contain: none that runs a program. */
const INSTRUCTIONS: Readonly<Record<string, (value: string) => ImageConfig>> = {
  FROM: () => ({}),
  ARG: () => ({}),
  COPY: () => ({}),
  ENV: (value) => ({ Env: value.split(/\s+/) }),
  USER: (value) => ({ User: value }),
  WORKDIR: (value) => ({ WorkingDir: value }),
  VOLUME: (value) => ({ Volumes: { [value]: {} } }),
  EXPOSE: (value) => ({ ExposedPorts: { [`${value}/tcp`]: {} } }),
  STOPSIGNAL: (value) => ({ StopSignal: value }),
  HEALTHCHECK: (value) => ({ Healthcheck: parseHealthcheck(value) }),
  ENTRYPOINT: (value) => ({ Entrypoint: JSON.parse(value) }),
  CMD: (value) => ({ Cmd: JSON.parse(value) }),
};

/**
 * Reads the configuration from the text of the Containerfile.
 * @throws Error for an instruction that it must not contain
 */
export function parseImageConfig(containerfile: string): ImageConfig {
  const lines = containerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line !== '');
  return Object.assign({}, ...lines.map(parseInstruction));
}

function parseInstruction(line: string): ImageConfig {
  const [, name = '', value = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
  const parse = INSTRUCTIONS[name];
  if (parse === undefined) throw new Error(`deploy/Containerfile must not contain "${line}".`);
  return parse(value);
}

function parseHealthcheck(text: string): Healthcheck {
  const [, options = '', command = ''] = /^(.*?)\s+CMD\s+(\[.*\])$/.exec(text) ?? [];
  const find = (name: string): number =>
    Number(new RegExp(`--${name}=(\\d+)`).exec(options)?.[1] ?? Number.NaN);
  return {
    Test: ['CMD', ...JSON.parse(command)],
    Interval: find('interval') * 1e9,
    Timeout: find('timeout') * 1e9,
    StartPeriod: find('start-period') * 1e9,
    Retries: find('retries'),
  };
}
