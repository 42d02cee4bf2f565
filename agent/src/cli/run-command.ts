import { Command } from 'commander';

import { systemClock } from '../clock.ts';
import { ConfigError, explainListenError } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import { createLog } from '../log.ts';
import { machineRoots } from '../roots.ts';
import type { RunningAgent } from '../run.ts';
import { openServiceManager, type ServiceManager } from '../service/service-manager.ts';
import { configOption, type ConfigOptions, printNote, withExamples } from './output.ts';

/** A slower stop is forced. */
const STOP_DEADLINE_MS = 1_900;

/** `latchkey-agent run`: collects and streams until it is stopped. */
export function runCommand(): Command {
  const command = new Command('run')
    .description('Collect and stream in the foreground until SIGTERM; SIGHUP reloads the files.')
    .addOption(configOption())
    .action(run);
  return withExamples(command, [
    ['run', 'With /etc/latchkey-agent/agent.yaml'],
    ['run --config ./agent.yaml', 'With another configuration'],
  ]);
}

async function run({ config: path }: ConfigOptions): Promise<void> {
  // Otherwise process lists show "MainThread".
  process.title = 'latchkey-agent';
  const stopped = receiveStopSignal();
  // By default the signal would end the process.
  process.on('SIGHUP', () => undefined);
  const { agent, service, status } = await start(path);
  service.ready(status);
  process.on('SIGHUP', () => {
    service.reloading();
    void agent.reload().then((problem) => service.ready(problem ?? status));
  });
  await stopped;
  service.stopping();
  setTimeout(() => endProcess(0), STOP_DEADLINE_MS).unref();
  await agent.close();
  if (agent.isStuck()) endProcess(0);
}

interface Started {
  readonly agent: RunningAgent;
  readonly service: ServiceManager;
  /** The listening address, as a sentence. */
  readonly status: string;
}

async function start(path: string): Promise<Started> {
  const config = await loadConfig(path);
  const { host, port } = config.listen;
  // Loaded late, so that an invalid configuration is reported sooner.
  const { runAgent } = await import('../run.ts');
  const log = createLog((line) => void process.stderr.write(line));
  const clock = systemClock;
  const { intervalSeconds } = config;
  const service = openServiceManager({ environment: process.env, clock, intervalSeconds, log });
  const status = `Listens on ${host}:${port}.`;
  const onTick = (viewers: number): void => service.tick(`${status} Watching: ${viewers}.`);
  try {
    const readAllowedOrigins = async () => (await loadConfig(path)).allowedOrigins;
    const roots = machineRoots;
    const agent = await runAgent({ config, roots, clock, log, readAllowedOrigins, onTick });
    printNote(`latchkey-agent listens on ${host}:${port}.`);
    return { agent, service, status };
  } catch (error) {
    const problem = explainListenError(error, config.listen);
    throw problem === null ? error : new ConfigError([problem]);
  }
}

async function receiveStopSignal(): Promise<void> {
  await new Promise<void>((resolve) => {
    process.once('SIGTERM', () => resolve()).once('SIGINT', () => resolve());
  });
}

/**
 * Ends this process although one of its threads is blocked in the kernel. Node.js would wait for the thread, so this replaces the
 * process with another program. Standard output must be flushed before.
 */
export function endProcess(exitCode: number): never {
  if (process.execve === undefined) process.exit(exitCode);
  return process.execve('/bin/sh', ['sh', '-c', `exit ${exitCode}`], {});
}
