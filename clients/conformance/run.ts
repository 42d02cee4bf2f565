/** `node clients/conformance/run.ts`: plays the scenes with the clients of this repository. */
import { listenForStop } from '../../scripts/lib/stop-signals.ts';
import { listClients, type ClientUnderTest } from './driver/clients.ts';
import { HELP, readOptions, UsageError, type RunOptions } from './options.ts';
import { playAll } from './play/play-all.ts';
import type { Theme } from './play/scene.ts';
import { formatBuilt, formatProgress, formatReport, hasDifference } from './report.ts';
import { THEMES } from './scenes/all-scenes.ts';

const USAGE_EXIT_CODE = 2;

try {
  const options = readOptions(process.argv.slice(2));
  if (options === null) process.stdout.write(HELP);
  else process.exitCode = await run(options);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(
    `${error.message}\nRun node clients/conformance/run.ts --help for the options.\n`,
  );
  process.exitCode = USAGE_EXIT_CODE;
}

async function run(options: RunOptions): Promise<number> {
  const clients = selectClients(options);
  const themes = selectThemes(options.scenes);
  const total = themes.reduce((sum, { scenes }) => sum + scenes.length, 0);
  if (options.list) {
    console.log(`Clients: ${clients.map(({ name }) => name).join(', ')}`);
    for (const { name, scenes } of themes) {
      console.log(`\n${name}\n${scenes.map((scene) => `  ${scene.name}`).join('\n')}`);
    }
    return 0;
  }
  const stop = listenForStop();
  const reports = await playAll({
    clients,
    themes,
    stop: stop.signal,
    onBuilt: (client, driver) => console.log(formatBuilt(client, driver)),
    onScene: (report, index) => console.log(formatProgress(report, index, total)),
  });
  console.log(
    `\n${formatReport(
      reports,
      clients.map(({ name }) => name),
    )}`,
  );
  return stop.exitCode() ?? (hasDifference(reports) ? 1 : 0);
}

function selectClients({ folder, clients: names }: RunOptions): readonly ClientUnderTest[] {
  const all = listClients(folder);
  if (all.length === 0) throw new UsageError(`No folder in ${folder} has a conformance.json.`);
  const unknown = names.find((name) => all.every((client) => client.name !== name));
  if (unknown !== undefined) {
    throw new UsageError(
      `There is no client "${unknown}"; there are: ${all.map(({ name }) => name).join(', ')}.`,
    );
  }
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
}

function selectThemes(texts: readonly string[]): readonly Theme[] {
  const isWanted = (text: string) =>
    texts.length === 0 || texts.some((each) => text.toLowerCase().includes(each.toLowerCase()));
  const themes = THEMES.map((theme) => ({
    ...theme,
    scenes: theme.scenes.filter((scene) => isWanted(`${theme.name}: ${scene.name}`)),
  })).filter(({ scenes }) => scenes.length > 0);
  if (themes.length === 0) throw new UsageError(`No scene contains "${texts.join('" or "')}".`);
  return themes;
}
